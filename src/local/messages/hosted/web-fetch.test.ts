import { describe, expect, test } from "vitest";
import { plain, startMessagesFixture } from "../../../../tests/support/local/messages-fixture.ts";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { runWebFetch } from "./web-fetch.ts";

const url = "https://owls.example/night";
const tool = { type: "web_fetch_20250910", name: "web_fetch" };

function createPages(): string {
  return temporaryTree({
    "pages.json": JSON.stringify({ "a.md": url }),
    "a.md": "# Night\nOwls hunt at night.",
  });
}

const error = (code: string) => ({
  content: [
    { type: "server_tool_use", name: "web_fetch" },
    {
      type: "web_fetch_tool_result",
      content: { type: "web_fetch_tool_result_error", error_code: code },
    },
    {},
  ],
});

describe("web fetch on the Messages API", () => {
  test("opens a page of the server, and the model reads its text", async () => {
    const { message, asked } = await startMessagesFixture(
      [[{ search: { open: url } }], [{ say: "At night." }]],
      { web: createPages() },
    );
    const answer = await message({ tools: [{ ...tool, citations: { enabled: true } }] });
    expect(answer).toMatchObject({
      content: [
        { type: "server_tool_use", name: "web_fetch", input: { url } },
        {
          type: "web_fetch_tool_result",
          content: {
            type: "web_fetch_result",
            url,
            retrieved_at: null,
            content: {
              type: "document",
              source: {
                type: "text",
                media_type: "text/plain",
                data: expect.stringContaining("Owls hunt at night."),
              },
              title: "Night",
              citations: { enabled: true },
            },
          },
        },
        { type: "text", text: "At night." },
      ],
      usage: { server_tool_use: { web_search_requests: 0, web_fetch_requests: 1 } },
    });
    expect(asked[1]?.items.at(-1)).toMatchObject({
      type: "web_search_call",
      action: { type: "open_page", url },
      results: [{ url, title: "Night", text: expect.stringContaining("Owls hunt") }],
    });
  });

  test.each([
    ["url_not_accessible", "https://owls.example/day", {}],
    ["max_uses_exceeded", url, { max_uses: 0 }],
    ["url_not_allowed", url, { allowed_domains: ["other.example"] }],
    ["url_not_allowed", url, { blocked_domains: ["example"] }],
    ["url_too_long", `${url}?${"x".repeat(250)}`, {}],
    ["invalid_tool_input", "night", {}],
  ])("reports %s for %s with %j", async (code, address, options) => {
    const { message } = await startMessagesFixture(
      [[{ search: { find: "owls", in: address } }, { say: "Well." }]],
      { web: createPages() },
    );
    expect(await message({ tools: [{ ...tool, ...options }] })).toMatchObject(error(code));
  });

  test("truncates a page at max_content_tokens", async () => {
    const { message } = await startMessagesFixture(
      [[{ search: { open: url } }, { say: "Well." }]],
      { web: createPages() },
    );
    const { content } = await message({ tools: [{ ...tool, max_content_tokens: 1 }] });
    expect(content).toMatchObject([
      {},
      { content: { content: { source: { data: expect.stringMatching(/^.{4}$/s) } } } },
      {},
    ]);
  });

  test("fails without pages even if the step was not checked", () => {
    const state = Object({ services: { tools: { web: null } } });
    expect(() => runWebFetch(url, tool, state)).toThrow("The server has no pages to search.");
  });

  test("needs a server with pages", async () => {
    const { ask } = await startMessagesFixture([[{ search: { open: url } }]]);
    expect((await ask({ ...plain, tools: [tool] })).body).toMatchObject({
      error: { message: expect.stringContaining("The server has no pages to search.") },
    });
  });
});
