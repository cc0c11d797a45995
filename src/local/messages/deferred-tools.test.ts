import { describe, expect, test } from "vitest";
import {
  clientTool,
  plain,
  startMessagesFixture,
} from "../../../tests/support/local/messages-fixture.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";

const reminder = `<system-reminder>
The following deferred tools are now available via ToolSearch:
WebSearch
mcp__mine__add
</system-reminder>`;
const told = [
  {
    role: "user",
    content: [
      { type: "text", text: reminder },
      { type: "text", text: "Hi." },
    ],
  },
];
const search = clientTool("ToolSearch");
const add = { ...clientTool("mcp__mine__add"), defer_loading: true };
const call = { call: { name: "add", args: { a: 1 } } };

/** Answers the calls of a message, as the Claude Agent SDK does after a search for tools. */
function continueWith(message: WireItem, ...names: readonly string[]): WireItem {
  const uses = Array.isArray(message["content"]) ? message["content"].filter(isPlainObject) : [];
  const content = names.map((name) => ({ type: "tool_reference", tool_name: name }));
  const results = uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content }));
  const answer = { role: "assistant", content: uses };
  return { messages: [...told, answer, { role: "user", content: results }] };
}

describe("a deferred tool of the client", () => {
  test("is loaded with ToolSearch before it is called, within one step", async () => {
    const { message, asked } = await startMessagesFixture([
      [{ say: "I add." }, call, { call: { name: "mcp__mine__add", args: { a: 2 } } }],
      [{ say: "Three." }],
    ]);
    const first = await message({ tools: [search], messages: told });
    expect(first).toMatchObject({
      stop_reason: "tool_use",
      content: [
        {
          type: "tool_use",
          name: "ToolSearch",
          input: { query: "select:mcp__mine__add", max_results: 1 },
        },
      ],
    });
    const tools = [search, add];
    const second = await message({ tools, ...continueWith(first, "mcp__mine__add") });
    expect(second["content"]).toMatchObject([
      { text: "I add." },
      { name: "mcp__mine__add", input: { a: 1 } },
      { name: "mcp__mine__add", input: { a: 2 } },
    ]);
    expect(asked).toHaveLength(1);
  });

  test("can be the tool of a search action", async () => {
    const { message } = await startMessagesFixture([[{ search: "owls" }, { say: "Found." }]], {
      web: import.meta.dirname,
    });
    const first = await message({ tools: [search], messages: told });
    expect(first["content"]).toMatchObject([
      { name: "ToolSearch", input: { query: "select:WebSearch" } },
    ]);
    const tools = [search, { ...clientTool("WebSearch"), defer_loading: true }];
    const second = await message({ tools, ...continueWith(first, "WebSearch") });
    expect(second["content"]).toMatchObject([{ name: "WebSearch", input: { query: "owls" } }]);
    const last = { role: "user", content: [{ type: "text", text: "Hi." }] };
    const { messages } = continueWith(second);
    const rest = Array.isArray(messages) ? messages.slice(1) : [];
    expect(await message({ tools, messages: [last, ...rest] })).toMatchObject({
      content: [{ type: "text", text: "Found." }],
    });
  });

  test("fails the step, every time, if the client does not load it", async () => {
    const { message, ask } = await startMessagesFixture([[call]]);
    const first = await message({ tools: [search], messages: told });
    for (let attempt = 0; attempt < 2; attempt++) {
      const { status, body } = await ask({ ...plain, tools: [search], ...continueWith(first) });
      expect([status, body]).toMatchObject([
        500,
        {
          error: {
            message: expect.stringContaining(
              'Step 1 failed: the model called the function "add", but the request does not offer',
            ),
          },
        },
      ]);
    }
  });

  test("is not assumed without a reminder that names it", async () => {
    const { ask } = await startMessagesFixture([[call]]);
    const mention = [{ role: "user", content: "ToolSearch\nadd" }];
    for (const request of [
      { tools: [search], messages: plain.messages },
      { tools: [search], messages: mention },
      { tools: [clientTool("other")], messages: told },
    ])
      expect((await ask({ ...plain, ...request })).status).toBe(500);
  });
});
