import { describe, expect, test } from "vitest";
import { createHostedTools } from "./hosted-tools-config.ts";

const listKinds = (config?: Parameters<typeof createHostedTools>[0]) =>
  createHostedTools(config).map(({ kind }) => kind);

const stores = { vectorStoreIds: ["vs_1"] };

describe("createHostedTools()", () => {
  test("returns no tools by default", () => {
    expect(createHostedTools()).toEqual([]);
    expect(listKinds({})).toEqual([]);
    expect(listKinds({ codeInterpreter: false, fileSearch: null, webSearch: false })).toEqual([]);
    const unset = { codeInterpreter: undefined, fileSearch: undefined, webSearch: undefined };
    expect(listKinds(unset)).toEqual([]);
  });

  test("returns tools in a fixed order", () => {
    expect(listKinds({ webSearch: true, fileSearch: stores, codeInterpreter: true })).toEqual([
      "code_interpreter",
      "file_search",
      "web_search",
    ]);
    expect(listKinds({ webSearch: {} })).toEqual(["web_search"]);
  });

  test("names tools after their kinds and passes their configs", () => {
    const webSearch = { searchContextSize: "low" } as const;
    const tools = createHostedTools({ codeInterpreter: true, fileSearch: stores, webSearch });
    expect(tools.map(({ name }) => name)).toEqual(tools.map(({ kind }) => kind));
    expect(tools.map(({ config }) => config)).toEqual([{}, stores, webSearch]);
    expect(createHostedTools({ webSearch: true })[0]?.config).toEqual({});
  });

  test("copies and freezes the config", () => {
    const vectorStoreIds = ["vs_1"];
    const tools = createHostedTools({ fileSearch: { vectorStoreIds } });
    vectorStoreIds.push("vs_2");
    expect(tools[0]?.config).toEqual(stores);
    expect([tools, tools[0], tools[0]?.config].every(Object.isFrozen)).toBe(true);
  });

  test("accepts a file search without stores; the request fails later", () => {
    expect(listKinds({ fileSearch: { vectorStoreIds: [] } })).toEqual(["file_search"]);
  });
});

test.each([
  [null, "", "must be a plain object, got null"],
  [["web_search"], "", "must be a plain object"],
  [{ websearch: true }, " key", 'Did you mean "webSearch"?'],
  [{ shell: true }, " key", '"codeInterpreter", "fileSearch", "webSearch", got "shell"'],
  [{ codeInterpreter: {} }, ".codeInterpreter", "must be a boolean, got {}"],
  [{ codeInterpreter: null }, ".codeInterpreter", "must be a boolean"],
  [{ webSearch: null }, ".webSearch", "must be true, false or a WebSearchConfig, got null"],
  [{ webSearch: "yes" }, ".webSearch", "Omit it for no web search."],
  [
    { webSearch: { geoHint: { countryCode: "UK" } } },
    ".webSearch.geoHint.countryCode",
    'in capitals, got "UK". Use "GB"',
  ],
  [{ webSearch: { domains: [] } }, ".webSearch key", "must be one of"],
  [{ fileSearch: true }, ".fileSearch", "must be a plain object, got true"],
  [{ fileSearch: {} }, ".fileSearch.vectorStoreIds", "must be an array, got undefined"],
  [{ fileSearch: { ...stores, maxResults: 51 } }, ".fileSearch.maxResults", "from 1 to 50"],
])("createHostedTools() rejects %o", (config, place, says) => {
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field: `OpenAIAdapter.hostedTools${place}`,
    message: expect.stringContaining(says),
  });
  expect(() => createHostedTools(config as never)).toThrow(refusal);
  expect(() => createHostedTools(config as never, "mine")).toThrow(/^mine/);
});
