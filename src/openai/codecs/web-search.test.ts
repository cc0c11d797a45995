import { describe, expect, test } from "vitest";
import { type WebSearchConfig, webSearchTool } from "../../tools/hosted/web-search.ts";
import type { WireItem } from "../wire.ts";
import { webSearchCodec } from "./web-search.ts";

const tool = webSearchTool({}, { name: "lookup" });
const env = { model: "gpt-5", containerId: null };
const serialize = (config: WebSearchConfig) => webSearchCodec.serialize(webSearchTool(config), env);
const parse = (...items: WireItem[]) => webSearchCodec.parseOutput(items, tool);
const calls = (...items: WireItem[]) => webSearchCodec.calls?.(items, tool) ?? [];

const search = (id: string, action: unknown, status: unknown = "completed"): WireItem => ({
  type: "web_search_call",
  id,
  status,
  action,
});
const message = (...content: object[]): WireItem => ({ type: "message", content });
const part = (text: string, ...annotations: object[]) => ({
  type: "output_text",
  text,
  annotations,
});
const cite = (url: string, start_index = 0, end_index = 1) => ({
  type: "url_citation",
  url,
  title: "T",
  start_index,
  end_index,
});

describe("serialize", () => {
  test("sends the bare tool for an empty config", () => {
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
  ])("sends the domains of %j", (domainFilter, filters) => {
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
  ])("sends what is set of the geo hint %j", (geoHint, location) => {
    expect(serialize({ geoHint })).toEqual({
      type: "web_search",
      user_location: { type: "approximate", ...location },
    });
  });

  test("mentions live access only when it is off", () => {
    expect(Object.keys(serialize({ allowLiveAccess: true }))).toEqual(["type"]);
    expect(serialize({ allowLiveAccess: false })).toEqual({
      type: "web_search",
      external_web_access: false,
    });
  });

  test("sends the size of the context that was chosen", () => {
    expect(serialize({ searchContextSize: "low" })).toEqual({
      type: "web_search",
      search_context_size: "low",
    });
  });
});

test("the sources are asked for, and the tool is forced by its older name", () => {
  expect(webSearchCodec.kind).toBe("web_search");
  expect(webSearchCodec.include?.(tool)).toEqual(["web_search_call.action.sources"]);
  expect(webSearchCodec.toolChoice?.(tool)).toEqual({ type: "web_search_preview" });
});

describe("parseOutput", () => {
  test("is null where the model did not search", () => {
    expect(parse()).toBeNull();
    expect(parse(message(part("Hello", cite("https://a.example"))))).toBeNull();
  });

  test("needs no message", () => {
    expect(parse(search("ws_1", { type: "search", query: "a" }))).toEqual({
      text: "",
      citations: [],
      sourceUrls: [],
      searches: [{ id: "ws_1", action: "search", queries: ["a"], url: null, status: "completed" }],
    });
  });

  test("has every search, and every address once, those that were consulted first", () => {
    const url = (url: unknown) => ({ type: "url", url });
    const output = parse(
      search("ws_1", {
        type: "search",
        query: "a",
        queries: ["a", "b"],
        sources: [url("https://one"), { type: "api", name: "oai-weather" }, url("https://two")],
      }),
      { type: "reasoning", id: "rs_1" },
      search("ws_2", { type: "open_page", url: "https://two" }),
      search("ws_3", { type: "find_in_page", url: "https://two", pattern: "x" }),
      search("ws_4", { type: "search", sources: [url("https://one"), url(7), null] }),
      message(part("x", cite("https://three"), cite("https://one"), cite(""))),
    );
    expect(output?.sourceUrls).toEqual(["https://one", "https://two", "https://three"]);
    expect(output?.searches).toEqual([
      { id: "ws_1", action: "search", queries: ["a", "b"], url: null, status: "completed" },
      { id: "ws_2", action: "open_page", queries: [], url: "https://two", status: "completed" },
      { id: "ws_3", action: "find_in_page", queries: [], url: "https://two", status: "completed" },
      { id: "ws_4", action: "search", queries: [], url: null, status: "completed" },
    ]);
  });

  test("has the words of all messages, with spans within the whole of them", () => {
    const output = parse(
      search("ws_1", { type: "search" }),
      message(part("One. "), part("Two", cite("https://a", 0, 3))),
      message(part(" and", cite("https://b", 1, 4))),
    );
    expect(output?.text).toBe("One. Two and");
    expect(output?.citations.map(({ span }) => span)).toEqual([
      [5, 8],
      [9, 12],
    ]);
  });

  test("leaves out what is cited and is no page, and parts that are no text", () => {
    const file = { type: "file_citation", file_id: "f", filename: "a.txt", index: 0 };
    const output = parse(
      search("ws_1", { type: "search" }),
      message({ type: "refusal", refusal: "No" }, part("x", file), part("y")),
    );
    expect(output).toMatchObject({ text: "xy", citations: [], sourceUrls: [] });
  });

  test.each([
    ["no action", undefined],
    ["a null action", null],
    ["a list for an action", ["search"]],
    ["an unknown action", { type: "dream", queries: "a", sources: { url: "x" } }],
  ])("reads a call with %s as a search", (_, action) => {
    expect(parse(search("ws_1", action, undefined))).toEqual({
      text: "",
      citations: [],
      sourceUrls: [],
      searches: [{ id: "ws_1", action: "search", queries: [], url: null, status: "completed" }],
    });
  });

  test("bears a call without any field", () => {
    expect(parse({ type: "web_search_call" })?.searches).toEqual([
      { id: "", action: "search", queries: [], url: null, status: "" },
    ]);
  });
});

describe("calls", () => {
  test("are one for each item, in order, each with its own search and all words", () => {
    const first = search("ws_1", { type: "search", queries: ["a", "b"] });
    const second = search("ws_2", {
      type: "search",
      query: "c",
      sources: [{ type: "url", url: "https://c" }],
    });
    const found = calls(first, message(part("Hi")), second);
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

  test("are none where the model did not search", () => {
    expect(calls(message(part("Hi")))).toEqual([]);
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
  ])("tell what was done by %j", (action, params, said) => {
    expect(calls(search("ws_1", action))).toEqual([
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
  ])("of status %s have success %s", (status, success) => {
    const [call] = calls({ ...search("ws_1", { type: "search", query: "a" }), status });
    expect(call?.success).toBe(success);
    expect(call?.output === null).toBe(!success);
    expect(call?.message).toBe(success ? "Searched: a" : `Failed (status "${status}")`);
  });

  test("hold no more than they declare", () => {
    const declared = Object.keys(webSearchCodec.params ?? {});
    const [call] = calls(
      search("ws_1", { type: "find_in_page", url: "u", pattern: "p", queries: ["q"], more: 1 }),
    );
    expect(declared.toSorted()).toEqual(Object.keys(call?.params ?? {}).toSorted());
  });

  test("are told apart by call_id where there is one", () => {
    expect(calls({ type: "web_search_call", id: "ws_1", call_id: "call_1" })[0]?.callId).toBe(
      "call_1",
    );
    expect(calls({ type: "web_search_call", id: "ws_1", call_id: "" })[0]?.callId).toBe("ws_1");
    expect(calls({ type: "web_search_call", id: 5, call_id: null })[0]?.callId).toBe("");
  });
});
