import { describe, expect, test } from "vitest";
import { type WebSearchConfig, webSearchTool } from "../../tools/hosted/web-search.ts";
import type { WireItem } from "../wire.ts";
import { webSearchCodec } from "./web-search.ts";

const tool = webSearchTool({}, { name: "lookup" });
const env = { model: "gpt-5", containerId: null };
const serialize = (config: WebSearchConfig) => webSearchCodec.serialize(webSearchTool(config), env);
const parse = (...items: WireItem[]) => webSearchCodec.parseOutput(items, tool);
const readCalls = (...items: WireItem[]) => webSearchCodec.calls?.(items, tool) ?? [];

const createCall = (id: string, action: unknown, status: unknown = "completed"): WireItem => ({
  type: "web_search_call",
  id,
  status,
  action,
});
const createMessage = (...content: object[]): WireItem => ({ type: "message", content });
const createPart = (text: string, ...annotations: object[]) => ({
  type: "output_text",
  text,
  annotations,
});
const createCitation = (url: string, start_index = 0, end_index = 1) => ({
  type: "url_citation",
  url,
  title: "T",
  start_index,
  end_index,
});

describe("webSearchCodec.serialize()", () => {
  test("sends only the type for an empty config", () => {
    expect(serialize({})).toEqual({ type: "web_search" });
  });

  test.each([
    [{ allowed: ["cdc.gov"] }, { allowed_domains: ["cdc.gov"] }],
    [{ blocked: ["x.com"] }, { blocked_domains: ["x.com"] }],
    [
      { allowed: ["cdc.gov"], blocked: ["x.com"] },
      { allowed_domains: ["cdc.gov"], blocked_domains: ["x.com"] },
    ],
    [{ allowed: [], blocked: ["x.com"] }, { blocked_domains: ["x.com"] }],
  ])("sends the domain filter %j", (domainFilter, filters) => {
    expect(serialize({ domainFilter })).toEqual({ type: "web_search", filters });
  });

  test.each([{}, { allowed: [] }, { allowed: [], blocked: [] }])(
    "sends no filters for %j",
    (domainFilter) => {
      expect(Object.keys(serialize({ domainFilter }))).toEqual(["type"]);
    },
  );

  test.each([
    [
      { countryCode: "GB", city: "London", region: "England", timezone: "Europe/London" },
      { country: "GB", city: "London", region: "England", timezone: "Europe/London" },
    ],
    [{ city: "Paris" }, { city: "Paris" }],
    [{}, {}],
  ])("sends the fields of the geo hint %j", (geoHint, location) => {
    expect(serialize({ geoHint })).toEqual({
      type: "web_search",
      user_location: { type: "approximate", ...location },
    });
  });

  test("sends external_web_access only if it is false", () => {
    expect(Object.keys(serialize({ allowLiveAccess: true }))).toEqual(["type"]);
    expect(serialize({ allowLiveAccess: false })).toEqual({
      type: "web_search",
      external_web_access: false,
    });
  });

  test("sends the search context size", () => {
    expect(serialize({ searchContextSize: "low" })).toEqual({
      type: "web_search",
      search_context_size: "low",
    });
  });
});

test("webSearchCodec includes sources and forces the tool by its preview name", () => {
  expect(webSearchCodec.kind).toBe("web_search");
  expect(webSearchCodec.include?.(tool)).toEqual(["web_search_call.action.sources"]);
  expect(webSearchCodec.toolChoice?.(tool)).toEqual({ type: "web_search_preview" });
});

describe("webSearchCodec.parseOutput()", () => {
  test("returns null if the model did not search", () => {
    expect(parse()).toBeNull();
    expect(
      parse(createMessage(createPart("Hello", createCitation("https://a.example")))),
    ).toBeNull();
  });

  test("works without a message", () => {
    expect(parse(createCall("ws_1", { type: "search", query: "a" }))).toEqual({
      text: "",
      citations: [],
      sourceUrls: [],
      searches: [{ id: "ws_1", action: "search", queries: ["a"], url: null, status: "completed" }],
    });
  });

  test("returns every search, and every URL once, consulted sources first", () => {
    const url = (url: unknown) => ({ type: "url", url });
    const output = parse(
      createCall("ws_1", {
        type: "search",
        query: "a",
        queries: ["a", "b"],
        sources: [url("https://one"), { type: "api", name: "oai-weather" }, url("https://two")],
      }),
      { type: "reasoning", id: "rs_1" },
      createCall("ws_2", { type: "open_page", url: "https://two" }),
      createCall("ws_3", { type: "find_in_page", url: "https://two", pattern: "x" }),
      createCall("ws_4", { type: "search", sources: [url("https://one"), url(7), null] }),
      createMessage(
        createPart(
          "x",
          createCitation("https://three"),
          createCitation("https://one"),
          createCitation(""),
        ),
      ),
    );
    expect(output?.sourceUrls).toEqual(["https://one", "https://two", "https://three"]);
    expect(output?.searches).toEqual([
      { id: "ws_1", action: "search", queries: ["a", "b"], url: null, status: "completed" },
      { id: "ws_2", action: "open_page", queries: [], url: "https://two", status: "completed" },
      { id: "ws_3", action: "find_in_page", queries: [], url: "https://two", status: "completed" },
      { id: "ws_4", action: "search", queries: [], url: null, status: "completed" },
    ]);
  });

  test("joins the text of all messages, with spans relative to the whole text", () => {
    const output = parse(
      createCall("ws_1", { type: "search" }),
      createMessage(createPart("One. "), createPart("Two", createCitation("https://a", 0, 3))),
      createMessage(createPart(" and", createCitation("https://b", 1, 4))),
    );
    expect(output?.text).toBe("One. Two and");
    expect(output?.citations.map(({ span }) => span)).toEqual([
      [5, 8],
      [9, 12],
    ]);
  });

  test("ignores file citations and parts without text", () => {
    const file = { type: "file_citation", file_id: "f", filename: "a.txt", index: 0 };
    const output = parse(
      createCall("ws_1", { type: "search" }),
      createMessage({ type: "refusal", refusal: "No" }, createPart("x", file), createPart("y")),
    );
    expect(output).toMatchObject({ text: "xy", citations: [], sourceUrls: [] });
  });

  test.each([
    ["no action", undefined],
    ["a null action", null],
    ["an array as action", ["search"]],
    ["an unknown action", { type: "dream", queries: "a", sources: { url: "x" } }],
  ])("reads a call with %s as a search", (_, action) => {
    expect(parse(createCall("ws_1", action, undefined))).toEqual({
      text: "",
      citations: [],
      sourceUrls: [],
      searches: [{ id: "ws_1", action: "search", queries: [], url: null, status: "completed" }],
    });
  });

  test("tolerates a call without fields", () => {
    expect(parse({ type: "web_search_call" })?.searches).toEqual([
      { id: "", action: "search", queries: [], url: null, status: "" },
    ]);
  });
});

describe("webSearchCodec.calls()", () => {
  test("returns one call per item in order, with its search and the whole text", () => {
    const first = createCall("ws_1", { type: "search", queries: ["a", "b"] });
    const second = createCall("ws_2", {
      type: "search",
      query: "c",
      sources: [{ type: "url", url: "https://c" }],
    });
    const found = readCalls(first, createMessage(createPart("Hi")), second);
    expect(found).toEqual([
      {
        name: "lookup",
        kind: "web_search",
        callId: "ws_1",
        params: { action: "search", query: "a", queries: ["a", "b"] },
        output: {
          text: "Hi",
          citations: [],
          sourceUrls: [],
          searches: [
            { id: "ws_1", action: "search", queries: ["a", "b"], url: null, status: "completed" },
          ],
        },
        success: true,
        message: "Searched: a; b",
        raw: first,
      },
      expect.objectContaining({
        callId: "ws_2",
        params: { action: "search", query: "c", queries: ["c"] },
        message: "Searched: c",
      }),
    ]);
    expect(found[0]?.raw).toBe(first);
    expect(found[1]?.output?.sourceUrls).toEqual(["https://c"]);
    expect(found[1]?.output?.searches).toHaveLength(1);
  });

  test("returns no calls if the model did not search", () => {
    expect(readCalls(createMessage(createPart("Hi")))).toEqual([]);
  });

  test.each([
    [{ type: "search" }, { action: "search", query: "", queries: [] }, "Searched"],
    [
      { type: "open_page", url: "https://a" },
      { action: "open_page", query: "https://a", url: "https://a" },
      "Opened https://a",
    ],
    [{ type: "open_page", url: null }, { action: "open_page", query: "" }, "Opened a page"],
    [
      { type: "find_in_page", url: "https://a", pattern: "x" },
      { action: "find_in_page", query: "x", url: "https://a", pattern: "x" },
      'Looked for "x" in https://a',
    ],
    [{ type: "find_in_page" }, { action: "find_in_page", query: "" }, 'Looked for "" in a page'],
  ])("describes the action %j", (action, params, said) => {
    expect(readCalls(createCall("ws_1", action))).toEqual([
      expect.objectContaining({ params, message: said, success: true }),
    ]);
  });

  test.each([
    ["completed", true],
    ["searching", true],
    ["in_progress", true],
    ["odd", true],
    [undefined, true],
    [null, true],
    ["failed", false],
    ["incomplete", false],
  ])("maps the status %s to success %s", (status, success) => {
    const [call] = readCalls({ ...createCall("ws_1", { type: "search", query: "a" }), status });
    expect(call?.success).toBe(success);
    expect(call?.output === null).toBe(!success);
    expect(call?.message).toBe(success ? "Searched: a" : `Failed (status "${status}")`);
  });

  test("returns only declared params", () => {
    const declared = Object.keys(webSearchCodec.params ?? {});
    const [call] = readCalls(
      createCall("ws_1", { type: "find_in_page", url: "u", pattern: "p", queries: ["q"], more: 1 }),
    );
    expect(declared.toSorted()).toEqual(Object.keys(call?.params ?? {}).toSorted());
  });

  test("prefers call_id over id", () => {
    expect(readCalls({ type: "web_search_call", id: "ws_1", call_id: "call_1" })[0]?.callId).toBe(
      "call_1",
    );
    expect(readCalls({ type: "web_search_call", id: "ws_1", call_id: "" })[0]?.callId).toBe("ws_1");
    expect(readCalls({ type: "web_search_call", id: 5, call_id: null })[0]?.callId).toBe("");
  });
});
