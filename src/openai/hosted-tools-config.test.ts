import { describe, expect, test } from "vitest";
import { hostedToolsOf } from "./hosted-tools-config.ts";

const kindsOf = (config?: Parameters<typeof hostedToolsOf>[0]) =>
  hostedToolsOf(config).map(({ kind }) => kind);

const stores = { vectorStoreIds: ["vs_1"] };

describe("an adapter's hosted tools", () => {
  test("are none unless switched on", () => {
    expect(hostedToolsOf()).toEqual([]);
    expect(kindsOf({})).toEqual([]);
    expect(kindsOf({ codeInterpreter: false, fileSearch: null, webSearch: false })).toEqual([]);
    const unsaid = { codeInterpreter: undefined, fileSearch: undefined, webSearch: undefined };
    expect(kindsOf(unsaid)).toEqual([]);
  });

  test("come in one order, whatever the config's", () => {
    expect(kindsOf({ webSearch: true, fileSearch: stores, codeInterpreter: true })).toEqual([
      "code_interpreter",
      "file_search",
      "web_search",
    ]);
    expect(kindsOf({ webSearch: {} })).toEqual(["web_search"]);
  });

  test("are named after their kinds and configured as was said", () => {
    const webSearch = { searchContextSize: "low" } as const;
    const tools = hostedToolsOf({ codeInterpreter: true, fileSearch: stores, webSearch });
    expect(tools.map(({ name }) => name)).toEqual(tools.map(({ kind }) => kind));
    expect(tools.map(({ config }) => config)).toEqual([{}, stores, webSearch]);
    expect(hostedToolsOf({ webSearch: true })[0]?.config).toEqual({});
  });

  test("are a frozen copy", () => {
    const vectorStoreIds = ["vs_1"];
    const tools = hostedToolsOf({ fileSearch: { vectorStoreIds } });
    vectorStoreIds.push("vs_2");
    expect(tools[0]?.config).toEqual(stores);
    expect([tools, tools[0], tools[0]?.config].every(Object.isFrozen)).toBe(true);
  });

  test("may search no store yet: the request is refused then", () => {
    expect(kindsOf({ fileSearch: { vectorStoreIds: [] } })).toEqual(["file_search"]);
  });
});

test.each([
  [null, "", "must be a plain object, got null"],
  [["web_search"], "", "must be a plain object"],
  [{ websearch: true }, " key", 'did you mean "webSearch"?'],
  [{ shell: true }, " key", '"codeInterpreter", "fileSearch", "webSearch", got "shell"'],
  [{ codeInterpreter: {} }, ".codeInterpreter", "must be a boolean, got {}"],
  [{ codeInterpreter: null }, ".codeInterpreter", "must be a boolean"],
  [{ webSearch: null }, ".webSearch", "must be true, false or a WebSearchConfig, got null"],
  [{ webSearch: "yes" }, ".webSearch", "leave it out for no web search"],
  [
    { webSearch: { geoHint: { countryCode: "UK" } } },
    ".webSearch.geoHint.countryCode",
    'in capitals, got "UK". Use "GB"',
  ],
  [{ webSearch: { domains: [] } }, ".webSearch key", "must be one of"],
  [{ fileSearch: true }, ".fileSearch", "must be a plain object, got true"],
  [{ fileSearch: {} }, ".fileSearch.vectorStoreIds", "must be an array, got undefined"],
  [{ fileSearch: { ...stores, maxResults: 51 } }, ".fileSearch.maxResults", "from 1 to 50"],
])("a config is refused as %o", (config, place, says) => {
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field: `OpenAIAdapter.hostedTools${place}`,
    message: expect.stringContaining(says),
  });
  expect(() => hostedToolsOf(config as never)).toThrow(refusal);
  expect(() => hostedToolsOf(config as never, "mine")).toThrow(/^mine/);
});
