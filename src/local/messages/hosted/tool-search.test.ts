import { describe, expect, test } from "vitest";
import {
  clientTool,
  plain,
  startMessagesFixture,
} from "../../../../tests/support/local/messages-fixture.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";

const call = { call: { name: "look", args: {} } };
const look = { ...clientTool("look"), defer_loading: true };
const regex = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
const bm25 = { type: "tool_search_tool_bm25", name: "tool_search_tool_bm25" };

function continueWith(message: WireItem): WireItem {
  const content = Array.isArray(message["content"]) ? message["content"].filter(isPlainObject) : [];
  const results = content
    .filter(({ type }) => type === "tool_use")
    .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "A barn." }));
  const answer = { role: "assistant", content };
  return { messages: [...plain.messages, answer, { role: "user", content: results }] };
}

describe("the tool search of Anthropic's API", () => {
  test.each([
    [regex, { pattern: "look" }],
    [bm25, { query: "look" }],
  ])("finds a deferred tool before its first call with %j", async (search, input) => {
    const { message, asked } = await startMessagesFixture([[call], [call, call], [{ say: "Ok." }]]);
    const tools = [search, look];
    const first = await message({ tools });
    expect(first).toMatchObject({
      stop_reason: "tool_use",
      content: [
        { type: "server_tool_use", name: search.name, input },
        {
          type: "tool_search_tool_result",
          content: {
            type: "tool_search_tool_search_result",
            tool_references: [{ type: "tool_reference", tool_name: "look" }],
          },
        },
        { type: "tool_use", name: "look" },
      ],
    });
    const second = await message({ tools, ...continueWith(first) });
    expect(second["content"]).toMatchObject([{ type: "tool_use" }, { type: "tool_use" }]);
    expect(asked[1]?.items.map((item) => Object(item).type)).toEqual([
      "message",
      "function_call",
      "function_call_output",
    ]);
  });

  test("searches once for two calls in one message, and never for other tools", async () => {
    const { message } = await startMessagesFixture([[call, call], [call]]);
    const { content } = await message({ tools: [regex, look] });
    expect(content).toMatchObject([
      { type: "server_tool_use" },
      { type: "tool_search_tool_result" },
      { type: "tool_use" },
      { type: "tool_use" },
    ]);
    const plainTools = await message({ tools: [regex, clientTool("look")] });
    expect(plainTools["content"]).toMatchObject([{ type: "tool_use" }]);
  });
});
