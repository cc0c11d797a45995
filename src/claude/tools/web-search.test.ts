import { describe, expect, test } from "vitest";
import { WebSearches } from "./web-search.ts";

/** As the SDK's hook gives it, version 0.3.325. */
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
const ended = (given: unknown, error: string | null = null) => ({ response: given, error });
const call = (id: string, query: string, status = "completed") => ({
  id,
  action: "search",
  queries: [query],
  url: null,
  status,
});

describe("a search", () => {
  test("is told as that of any other provider", () => {
    expect(new WebSearches().add("toolu_1", { query: "owls" }, ended(response))).toEqual({
      params: { action: "search", query: "owls", queries: ["owls"] },
      output: {
        text: "",
        citations: [],
        sourceUrls: ["https://example.com/owls", "https://b.example/x?y=1"],
        searches: [call("toolu_1", "owls")],
      },
      success: true,
      message: "Searched: owls",
    });
  });

  test("that found nothing went well all the same", () => {
    const empty = { query: "owls", results: [{ tool_use_id: "srvtoolu_1", content: [] }] };
    expect(new WebSearches().add("toolu_1", { query: "owls" }, ended(empty))).toMatchObject({
      success: true,
      output: { sourceUrls: [] },
    });
  });

  test("fails with the SDK's reason, or with what the search itself says", () => {
    const searches = new WebSearches();
    const refused = { query: "owls", results: ["Web search error: unavailable"], searchCount: 1 };
    expect(searches.add("toolu_1", { query: "owls" }, ended(refused))).toEqual({
      params: { action: "search", query: "owls", queries: ["owls"] },
      output: null,
      success: false,
      message: "Web search error: unavailable",
    });
    expect(searches.add("toolu_2", { query: "owls" }, ended(null, "API Error: 500"))).toMatchObject(
      {
        output: null,
        success: false,
        message: "API Error: 500",
      },
    );
    expect(searches.result("")?.searches).toEqual([
      call("toolu_1", "owls", "failed"),
      call("toolu_2", "owls", "failed"),
    ]);
  });

  test.each([
    null,
    "Done.",
    {},
    { results: "x" },
    { results: [null, 5, { content: null }, { content: [{}, { url: 7 }] }] },
  ])("bears %j for an answer", (odd) => {
    expect(new WebSearches().add("toolu_1", {}, ended(odd))).toEqual({
      params: { action: "search", query: "", queries: [] },
      output: {
        text: "",
        citations: [],
        sourceUrls: [],
        searches: [{ ...call("toolu_1", ""), queries: [] }],
      },
      success: true,
      message: "Searched",
    });
  });
});

describe("all searches", () => {
  test("are none at first", () => {
    expect(new WebSearches().result("Hi")).toBeNull();
  });

  test("have every source once, and cite those that the answer names", () => {
    const searches = new WebSearches();
    searches.add("toolu_1", { query: "owls" }, ended(response));
    searches.add("toolu_1", { query: "owls" }, ended(response));
    const content = [
      { title: "Again", url: "https://example.com/owls" },
      { title: "New", url: "https://c.example" },
    ];
    searches.add("toolu_2", { query: "birds" }, ended({ results: [{ content }] }));
    const text = "Owls hoot ([Owls](https://example.com/owls)).";
    expect(searches.result(text)).toEqual({
      text,
      citations: [{ type: "url", span: [11, 43], url: "https://example.com/owls", title: "Owls" }],
      sourceUrls: ["https://example.com/owls", "https://b.example/x?y=1", "https://c.example"],
      searches: [call("toolu_1", "owls"), call("toolu_2", "birds")],
    });
  });
});
