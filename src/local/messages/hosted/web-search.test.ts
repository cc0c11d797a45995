import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startMessagesFixture } from "../../../../tests/support/local/messages-fixture.ts";
import type { WireItem } from "../../../openai/wire.ts";

const tool = { type: "web_search_20250305", name: "web_search", max_uses: 8 };

/** Creates the request that the Claude Agent SDK sends for each WebSearch call. */
function createSideRequest(query: string, more: WireItem = {}): WireItem {
  const text = `Perform a web search for the query: ${query}`;
  return {
    tools: [{ ...tool, ...more }],
    tool_choice: { type: "tool", name: "web_search" },
    thinking: { type: "disabled" },
    messages: [{ role: "user", content: [{ type: "text", text }] }],
  };
}

/** Creates a folder with two pages about tomatoes. */
function createPages(): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-pages-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const addresses = { "a.md": "https://example.com/a", "b.md": "https://other.org/b" };
  writeFileSync(join(folder, "pages.json"), JSON.stringify(addresses));
  writeFileSync(join(folder, "a.md"), "# Nights\nTomatoes like 18 degrees at night.");
  writeFileSync(join(folder, "b.md"), "# Days\nTomatoes are red by day.");
  return folder;
}

describe("a request that forces a web search", () => {
  test("returns the pages without calling the model", async () => {
    const { message, asked } = await startMessagesFixture([[{ say: "Hi." }]], {
      web: createPages(),
    });
    const { content, usage, stop_reason } = await message(
      createSideRequest("tomatoes", { allowed_domains: ["example.com"] }),
    );
    const url = "https://example.com/a";
    expect(content).toMatchObject([
      { type: "server_tool_use", name: "web_search", input: { query: "tomatoes" } },
      {
        type: "web_search_tool_result",
        content: [{ type: "web_search_result", title: "Nights", url, page_age: null }],
      },
      {
        type: "text",
        text: expect.stringContaining("18 degrees"),
        citations: [{ type: "web_search_result_location", url, title: "Nights" }],
      },
    ]);
    expect(usage).toMatchObject({ server_tool_use: { web_search_requests: 1 } });
    expect([stop_reason, asked.length]).toEqual(["end_turn", 0]);
  });

  test("may omit the tool choice if its text demands the search", async () => {
    const { message, asked } = await startMessagesFixture([], { web: createPages() });
    const choice = { tool_choice: { type: "auto" } };
    const { content } = await message({ ...createSideRequest("tomatoes"), ...choice });
    expect(content).toMatchObject([{ input: { query: "tomatoes" } }, {}, {}, {}]);
    expect(asked).toEqual([]);
  });

  test("respects blocked and allowed domains, and may find nothing", async () => {
    const { message } = await startMessagesFixture([], { web: createPages() });
    const kept = await message(createSideRequest("tomatoes", { blocked_domains: ["example.com"] }));
    expect(JSON.stringify(kept)).not.toContain("https://example.com");
    expect(JSON.stringify(await message(createSideRequest("tomatoes")))).toMatch(
      /example\.com.*other\.org|other\.org.*example\.com/,
    );
    const { content } = await message(createSideRequest("zebra"));
    expect(content).toMatchObject([{}, { content: [] }, { text: "No results found." }]);
  });

  test("streams its content blocks", async () => {
    const { stream } = await startMessagesFixture([], { web: createPages() });
    const events = await stream(createSideRequest("night"));
    const starts = events.filter(({ type }) => type === "content_block_start");
    expect(starts.map((event) => Object(event["content_block"]).type)).toEqual([
      "server_tool_use",
      "web_search_tool_result",
      "text",
    ]);
    const deltas = events.map((event) => Object(event["delta"]).type);
    expect(deltas).toContain("citations_delta");
  });

  test("fails without pages, with a remedy", async () => {
    const { message } = await startMessagesFixture([]);
    await expect(message(createSideRequest("x"))).rejects.toThrow(
      "The server has no pages to search. Start the server with a folder of pages",
    );
  });
});

describe("a model with the web search tool", () => {
  test("searches within its answer and cites the results", async () => {
    const { message, asked } = await startMessagesFixture(
      [
        [{ search: { web: "night" } }],
        [{ say: "18 degrees.", citations: [{ hit: 0 }, { hit: 9 }] }],
      ],
      { web: createPages() },
    );
    const { content } = await message({ tools: [tool] });
    expect(content).toMatchObject([
      { type: "server_tool_use" },
      { type: "web_search_tool_result" },
      { type: "text", text: "18 degrees.", citations: [{ url: "https://example.com/a" }] },
    ]);
    expect(asked[1]?.items.at(-1)).toMatchObject({ type: "web_search_call" });
  });

  test("gets an error result beyond max_uses", async () => {
    const { message } = await startMessagesFixture(
      [[{ search: "a" }, { search: "b" }, { say: "Hi." }]],
      {
        web: createPages(),
      },
    );
    const { content } = await message({ tools: [{ ...tool, max_uses: 1 }] });
    expect(Object(content)[3]).toMatchObject({
      content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
    });
  });

  test("is called if the search is not forced or the conversation has started", async () => {
    const { message, asked } = await startMessagesFixture(
      [[{ say: "Hi." }], [{ search: "x" }, { say: "Hi." }]],
      {
        web: createPages(),
      },
    );
    const choice = { tool_choice: { type: "auto" } };
    await message({
      ...createSideRequest("x"),
      ...choice,
      messages: [{ role: "user", content: "x" }],
    });
    const { messages, ...rest } = createSideRequest("x");
    const more = [...Object(messages), { role: "assistant", content: "I search." }];
    await message({ ...rest, messages: [...more, { role: "user", content: "Go on." }] });
    expect(asked).toHaveLength(2);
  });
});
