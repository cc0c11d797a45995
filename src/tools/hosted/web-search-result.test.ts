import { describe, expect, test } from "vitest";
import type { WebSearchCall } from "./web-search.ts";
import {
  createWebSearchResult,
  describeSearch,
  searchParamTypes,
  toSearchParams,
} from "./web-search-result.ts";

const search: WebSearchCall = {
  id: "1",
  action: "search",
  queries: ["a", "b"],
  url: null,
  status: "completed",
};
const page: WebSearchCall = { ...search, action: "open_page", queries: [], url: "https://a" };
const find: WebSearchCall = { ...page, action: "find_in_page" };

test("createWebSearchResult() lists every URL once and no empty one", () => {
  const citations = [
    { type: "url", url: "https://c", title: "C", span: null },
    { type: "url", url: "https://b", title: "B", span: null },
    { type: "file", fileId: "f", filename: "a.txt", span: null },
  ] as const;
  const consulted = ["https://a", "", "https://b", "https://a"];
  expect(
    createWebSearchResult({ text: "Hi", citations }, { consulted, searches: [search] }),
  ).toEqual({
    text: "Hi",
    citations,
    sourceUrls: ["https://a", "https://b", "https://c"],
    searches: [search],
  });
});

describe("a web search call", () => {
  test.each([
    [search, null, { action: "search", query: "a", queries: ["a", "b"] }, "Searched: a; b"],
    [{ ...search, queries: [] }, null, { action: "search", query: "", queries: [] }, "Searched"],
    [page, null, { action: "open_page", query: "https://a", url: "https://a" }, "Opened https://a"],
    [{ ...page, url: null }, null, { action: "open_page", query: "" }, "Opened a page"],
    [
      find,
      "x",
      { action: "find_in_page", query: "x", url: "https://a", pattern: "x" },
      'Looked for "x" in https://a',
    ],
    [
      { ...find, url: null },
      null,
      { action: "find_in_page", query: "" },
      'Looked for "" in a page',
    ],
  ])("is described as %j with the pattern %j", (call, pattern, params, message) => {
    expect(toSearchParams(call, pattern)).toEqual(params);
    expect(describeSearch(call, pattern ?? undefined)).toBe(message);
    expect(Object.keys(searchParamTypes)).toEqual(expect.arrayContaining(Object.keys(params)));
  });
});
