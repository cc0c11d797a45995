import { describe, expect, test } from "vitest";
import { WebSearchLog } from "./web-search.ts";

/** A response as version 0.3.325 of the SDK passes it to hooks. */
const response = {
  query: "owls",
  results: [
    "I'll search.",
    {
      tool_use_id: "srvtoolu_1",
      content: [
        { title: "Owls", url: "https://example.com/owls" },
        { title: "More", url: "https://b.example/x?y=1" },
      ],
    },
    "Web search error: max_uses_exceeded",
    "Owls are birds.",
  ],
  durationSeconds: 0.04173121100000003,
  searchCount: 2,
};
const createOutcome = (response: unknown, error: string | null = null) => ({ response, error });
const createCall = (id: string, query: string, status = "completed") => ({
  id,
  action: "search",
  queries: [query],
  url: null,
  status,
});

describe("WebSearchLog.add()", () => {
  test("returns the same fields as other providers", () => {
    expect(new WebSearchLog().add("toolu_1", { query: "owls" }, createOutcome(response))).toEqual({
      params: { action: "search", query: "owls", queries: ["owls"] },
      output: {
        text: "",
        citations: [],
        sourceUrls: ["https://example.com/owls", "https://b.example/x?y=1"],
        searches: [createCall("toolu_1", "owls")],
      },
      success: true,
      message: "Searched: owls",
    });
  });

  test("reports a search without results as successful", () => {
    const empty = { query: "owls", results: [{ tool_use_id: "srvtoolu_1", content: [] }] };
    expect(
      new WebSearchLog().add("toolu_1", { query: "owls" }, createOutcome(empty)),
    ).toMatchObject({
      success: true,
      output: { sourceUrls: [] },
    });
  });

  test("reports a failure with the SDK's reason or the search's error", () => {
    const searches = new WebSearchLog();
    const failed = { query: "owls", results: ["Web search error: unavailable"], searchCount: 1 };
    expect(searches.add("toolu_1", { query: "owls" }, createOutcome(failed))).toEqual({
      params: { action: "search", query: "owls", queries: ["owls"] },
      output: null,
      success: false,
      message: "Web search error: unavailable",
    });
    expect(
      searches.add("toolu_2", { query: "owls" }, createOutcome(null, "API Error: 500")),
    ).toMatchObject({
      output: null,
      success: false,
      message: "API Error: 500",
    });
    expect(searches.toResult("")?.searches).toEqual([
      createCall("toolu_1", "owls", "failed"),
      createCall("toolu_2", "owls", "failed"),
    ]);
  });

  test.each([
    null,
    "Done.",
    {},
    { results: "x" },
    { results: [null, 5, { content: null }, { content: [{}, { url: 7 }] }] },
  ])("accepts the malformed response %j", (odd) => {
    expect(new WebSearchLog().add("toolu_1", {}, createOutcome(odd))).toEqual({
      params: { action: "search", query: "", queries: [] },
      output: {
        text: "",
        citations: [],
        sourceUrls: [],
        searches: [{ ...createCall("toolu_1", ""), queries: [] }],
      },
      success: true,
      message: "Searched",
    });
  });
});

describe("WebSearchLog.toResult()", () => {
  test("returns null without searches", () => {
    expect(new WebSearchLog().toResult("Hi")).toBeNull();
  });

  test("lists every source once, and the citations in the answer", () => {
    const searches = new WebSearchLog();
    searches.add("toolu_1", { query: "owls" }, createOutcome(response));
    searches.add("toolu_1", { query: "owls" }, createOutcome(response));
    const content = [
      { title: "Again", url: "https://example.com/owls" },
      { title: "New", url: "https://c.example" },
    ];
    searches.add("toolu_2", { query: "birds" }, createOutcome({ results: [{ content }] }));
    const text = "Owls hoot ([Owls](https://example.com/owls)).";
    expect(searches.toResult(text)).toEqual({
      text,
      citations: [{ type: "url", span: [11, 43], url: "https://example.com/owls", title: "Owls" }],
      sourceUrls: ["https://example.com/owls", "https://b.example/x?y=1", "https://c.example"],
      searches: [createCall("toolu_1", "owls"), createCall("toolu_2", "birds")],
    });
  });
});
