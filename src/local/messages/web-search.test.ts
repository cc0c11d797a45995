import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { messagesStage } from "../../../tests/support/local/messages-stage.ts";
import type { WireItem } from "../../openai/wire.ts";

const tool = { type: "web_search_20250305", name: "web_search", max_uses: 8 };

/** As the Claude Agent SDK asks for each call of its WebSearch. */
function sideRequest(query: string, more: WireItem = {}): WireItem {
  const text = `Perform a web search for the query: ${query}`;
  return {
    tools: [{ ...tool, ...more }],
    tool_choice: { type: "tool", name: "web_search" },
    thinking: { type: "disabled" },
    messages: [{ role: "user", content: [{ type: "text", text }] }],
  };
}

/** Two pages about tomatoes. */
function pages(): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-pages-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const addresses = { "a.md": "https://example.com/a", "b.md": "https://other.org/b" };
  writeFileSync(join(folder, "pages.json"), JSON.stringify(addresses));
  writeFileSync(join(folder, "a.md"), "# Nights\nTomatoes like 18 degrees at night.");
  writeFileSync(join(folder, "b.md"), "# Days\nTomatoes are red by day.");
  return folder;
}

describe("a request that can only search the web", () => {
  test("is answered with what the pages say, and no model is asked", async () => {
    const { message, asked } = await messagesStage([[{ say: "Hi." }]], { web: pages() });
    const { content, usage, stop_reason } = await message(
      sideRequest("tomatoes", { allowed_domains: ["example.com"] }),
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

  test("may leave the choice to the model, if it says what to search for", async () => {
    const { message, asked } = await messagesStage([], { web: pages() });
    const choice = { tool_choice: { type: "auto" } };
    const { content } = await message({ ...sideRequest("tomatoes"), ...choice });
    expect(content).toMatchObject([{ input: { query: "tomatoes" } }, {}, {}, {}]);
    expect(asked).toEqual([]);
  });

  test("keeps from domains, finds in all of them, and may find nothing", async () => {
    const { message } = await messagesStage([], { web: pages() });
    const kept = await message(sideRequest("tomatoes", { blocked_domains: ["example.com"] }));
    expect(JSON.stringify(kept)).not.toContain("https://example.com");
    expect(JSON.stringify(await message(sideRequest("tomatoes")))).toMatch(
      /example\.com.*other\.org|other\.org.*example\.com/,
    );
    const { content } = await message(sideRequest("zebra"));
    expect(content).toMatchObject([{}, { content: [] }, { text: "Nothing was found." }]);
  });

  test("streams its blocks", async () => {
    const { stream } = await messagesStage([], { web: pages() });
    const events = await stream(sideRequest("night"));
    const starts = events.filter(({ type }) => type === "content_block_start");
    expect(starts.map((event) => Object(event["content_block"]).type)).toEqual([
      "server_tool_use",
      "web_search_tool_result",
      "text",
    ]);
    const deltas = events.map((event) => Object(event["delta"]).type);
    expect(deltas).toContain("citations_delta");
  });

  test("fails without pages, and says how to give some", async () => {
    const { message } = await messagesStage([]);
    await expect(message(sideRequest("x"))).rejects.toThrow(
      "There are no pages to search: start the server with a folder of pages",
    );
  });
});

describe("a model that may search the web", () => {
  test("does so within its answer, and cites what it found", async () => {
    const { message, asked } = await messagesStage(
      [
        [{ search: { web: "night" } }],
        [{ say: "18 degrees.", citations: [{ hit: 0 }, { hit: 9 }] }],
      ],
      { web: pages() },
    );
    const { content } = await message({ tools: [tool] });
    expect(content).toMatchObject([
      { type: "server_tool_use" },
      { type: "web_search_tool_result" },
      { type: "text", text: "18 degrees.", citations: [{ url: "https://example.com/a" }] },
    ]);
    expect(asked[1]?.items.at(-1)).toMatchObject({ type: "web_search_call" });
  });

  test("is told when it has searched as often as it may", async () => {
    const { message } = await messagesStage([[{ search: "a" }, { search: "b" }, { say: "Hi." }]], {
      web: pages(),
    });
    const { content } = await message({ tools: [{ ...tool, max_uses: 1 }] });
    expect(Object(content)[3]).toMatchObject({
      content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
    });
  });

  test("may be left to choose, or be in the middle of it", async () => {
    const { message, asked } = await messagesStage(
      [[{ say: "Hi." }], [{ search: "x" }, { say: "Hi." }]],
      {
        web: pages(),
      },
    );
    const choice = { tool_choice: { type: "auto" } };
    await message({ ...sideRequest("x"), ...choice, messages: [{ role: "user", content: "x" }] });
    const { messages, ...rest } = sideRequest("x");
    const more = [...Object(messages), { role: "assistant", content: "I search." }];
    await message({ ...rest, messages: [...more, { role: "user", content: "Go on." }] });
    expect(asked).toHaveLength(2);
  });
});
