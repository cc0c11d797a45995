import { describe, expect, test } from "vitest";
import {
  clientTool,
  plain,
  startMessagesFixture,
} from "../../../tests/support/local/messages-fixture.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";

const headers = { "anthropic-beta": "compact-2026-09-04" };
const compaction = { type: "summarize" };

const history = [
  { role: "user", content: "Count the owls." },
  {
    role: "assistant",
    content: [
      { type: "text", text: "I look." },
      { type: "tool_use", id: "t1", name: "look", input: { at: "barn" } },
    ],
  },
  {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "t1", content: `Twelve.${"o".repeat(2000)}` }],
  },
];

function readBlock(message: WireItem): WireItem {
  const [block] = Array.isArray(message["content"]) ? message["content"].filter(isPlainObject) : [];
  return block ?? {};
}

describe("A compaction on the Messages API", () => {
  test("summarizes the conversation, and the model reads the summary in its place", async () => {
    const { message, asked } = await startMessagesFixture([[{ say: "Twelve." }]]);
    const compacted = await message({ messages: history, compaction }, headers);
    expect(compacted).toMatchObject({
      stop_reason: "compaction",
      content: [{ type: "compaction", encrypted_content: null, tool_changes: null }],
    });
    const block = readBlock(compacted);
    const summary = readString(block, "content");
    expect(summary.split("\n")).toEqual([
      "User: Count the owls.",
      "Assistant: I look.",
      'Call of look: {"at":"barn"}',
      expect.stringMatching(/^Result: Twelve\.o{900,}…$/),
    ]);
    const messages = [
      { role: "assistant", content: [block] },
      { role: "user", content: "How many?" },
    ];
    await message({ messages });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      text: "How many?",
      items: [
        { role: "assistant", content: [{ text: expect.stringContaining(summary) }] },
        { role: "user" },
      ],
    });
  });

  test("includes calls of the API's tools, and no thinking", async () => {
    const { message } = await startMessagesFixture([
      [{ think: "Hm." }, { code: "print(6 * 7)" }, { say: "42." }],
    ]);
    const thinking = { type: "adaptive" };
    const tools = [{ type: "code_execution_20250522", name: "code_execution" }];
    const { content } = await message({ tools, thinking });
    const answered = [...plain.messages, { role: "assistant", content }];
    const summary = readString(
      readBlock(await message({ tools, thinking, messages: answered, compaction }, headers)),
      "content",
    );
    expect(summary.split("\n")).toEqual([
      "User: Hi.",
      expect.stringContaining('"code":"print(6 * 7)"'),
      "Assistant: 42.",
    ]);
  });

  test("omits the oldest lines of a long conversation, and has a text for an empty one", async () => {
    const { message } = await startMessagesFixture([]);
    const long = Array.from({ length: 100 }, (_, place) => ({
      role: place % 2 === 0 ? "user" : "assistant",
      content: `${place}: ${"x".repeat(2000)}`,
    }));
    const content = readString(
      readBlock(await message({ messages: long, compaction }, headers)),
      "content",
    );
    expect(content.length).toBeLessThan(42_000);
    expect(content).toMatch(/^\[Earlier parts are omitted\.\]\n/);
    expect(content).toContain("Assistant: 99: x");
    const image = { type: "image", source: { type: "url", url: "https://a.com/a.png" } };
    const mute = { messages: [{ role: "user", content: [image] }], compaction };
    expect(readBlock(await message(mute, headers))).toMatchObject({
      content: "The conversation has no text.",
    });
  });

  test("is rejected if it was changed, signed elsewhere, or is not the first block", async () => {
    const { message, ask } = await startMessagesFixture([]);
    const block = readBlock(await message({ messages: history, compaction }, headers));
    const send = async (...blocks: readonly WireItem[]) => {
      const messages = [
        { role: "assistant", content: blocks },
        { role: "user", content: "Hi." },
      ];
      const { status, body } = await ask({ ...plain, messages });
      return [status, Object(body["error"]).details];
    };
    expect(await send({ ...block, content: "Thirteen." })).toEqual([
      400,
      { error_code: "compaction_content_mismatch" },
    ]);
    expect(await send({ ...block, signature: "AAAA" })).toEqual([
      400,
      { error_code: "compaction_signature_invalid" },
    ]);
    expect(await send({ type: "text", text: "Hi." }, block)).toEqual([
      400,
      { error_code: "compaction_block_misplaced" },
    ]);
  });

  test("repeats the tool changes before it, so that they still apply after it", async () => {
    const { message, asked } = await startMessagesFixture([[{ say: "Done." }]]);
    const change = {
      type: "tool_removal",
      tool: { type: "tool_reference", name: "look" },
    };
    const tools = [clientTool("look"), clientTool("listen")];
    const changed = [...plain.messages, { role: "system", content: [change] }];
    const block = readBlock(await message({ tools, messages: changed, compaction }, headers));
    expect(block).toMatchObject({ tool_changes: [change] });
    const messages = [{ role: "assistant", content: [block] }, ...plain.messages];
    await message({ tools, messages });
    expect(asked[0]?.tools).toMatchObject([{ name: "listen" }]);
  });
});
