import { describe, expect, test } from "vitest";
import type { UnknownRecord } from "../../base/reading.ts";
import { usageOf } from "../../base/usage.ts";
import { claudeUsage, isSynthetic, noMessage, readMessage } from "./model-message.ts";

const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 3 };
const about = (id: string) => ({ id, type: "message", model: "claude-test", usage });
const event = (of: UnknownRecord) => ({
  type: "stream_event",
  parent_tool_use_id: null,
  event: of,
});
const begin = (id: string) => event({ type: "message_start", message: about(id) });
const end = (stop_reason: string) => [
  event({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 5 } }),
  event({ type: "message_stop" }),
];
const block = (id: string, content: readonly unknown[], more: UnknownRecord = {}) => ({
  type: "assistant",
  parent_tool_use_id: null,
  message: { ...about(id), content, stop_reason: null, ...more },
});
const text = (words: string) => ({ type: "text", text: words });
const use = { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } };

function read(...said: readonly UnknownRecord[]) {
  let draft = noMessage;
  const reader = {
    take(one: UnknownRecord): boolean {
      const next = readMessage(draft, one);
      draft = next ?? draft;
      return next !== null;
    },
    get message() {
      return draft.message;
    },
  };
  const taken = said.map((one) => reader.take(one));
  return { reader, taken, message: reader.message };
}

describe("a message that is streamed", () => {
  test("is put together block by block, until it says how it ended", () => {
    const { reader, message } = read(
      begin("m1"),
      block("m1", [{ type: "thinking", thinking: "Hm." }]),
      block("m1", [text("Let me ")]),
      block("m1", [text("see.")]),
      { ...block("m1", [use]), request_id: "req_1" },
    );
    expect(message).toEqual({
      number: 1,
      id: "m1",
      model: "claude-test",
      requestId: "req_1",
      text: "Let me see.",
      uses: [{ id: "t1", name: "Bash", input: { command: "ls" } }],
      stopReason: null,
      usage: usageOf({ inputTokens: 13, outputTokens: 1, cachedTokens: 3 }),
      isComplete: false,
    });
    const [delta = {}, stop = {}] = end("tool_use");
    reader.take(delta);
    expect(reader.message).toMatchObject({ stopReason: "tool_use", isComplete: false });
    expect(reader.message?.usage).toEqual(
      usageOf({ inputTokens: 13, outputTokens: 5, cachedTokens: 3 }),
    );
    reader.take(stop);
    expect(reader.message?.isComplete).toBe(true);
  });

  test("may be cut off, with no word of how it ended", () => {
    const cut = read(begin("m1"), block("m1", [text("Once")]), event({ type: "message_stop" }));
    expect(cut.message).toMatchObject({ text: "Once", stopReason: null, isComplete: true });
  });

  test("is the newest one, and counted", () => {
    const { message } = read(
      begin("m1"),
      block("m1", [text("a")]),
      ...end("end_turn"),
      begin("m2"),
    );
    expect(message).toMatchObject({ number: 2, id: "m2", text: "", isComplete: false });
  });
});

describe("a message that came whole", () => {
  test("has ended with it", () => {
    const { message } = read(block("m1", [text("a"), text("b")], { stop_reason: "end_turn" }));
    expect(message).toMatchObject({
      number: 1,
      text: "ab",
      stopReason: "end_turn",
      isComplete: true,
      usage: { outputTokens: 1 },
    });
  });

  test("follows one that was streamed", () => {
    const whole = block("m2", [text("b")], { stop_reason: "end_turn" });
    const { message } = read(begin("m1"), block("m1", [text("a")]), ...end("max_tokens"), whole);
    expect(message).toMatchObject({ number: 2, id: "m2", text: "b" });
  });
});

describe("taken", () => {
  test("is what belongs to the main conversation", () => {
    const { taken } = read(begin("m1"), block("m1", []), ...end("end_turn"));
    expect(taken).toEqual([true, true, true, true]);
  });

  test.each([
    ["another agent's word", { ...block("m1", [text("a")]), parent_tool_use_id: "t1" }],
    ["a result", { type: "result" }],
    ["the SDK's own word", block("m1", [text("a")], { model: "<synthetic>" })],
    ["a word about a failure", { ...block("m1", [text("a")]), error: "rate_limit" }],
  ])("is not %s", (_, said) => {
    const { taken, message } = read(said);
    expect([taken, message]).toEqual([[false], null]);
  });

  test("changes nothing where there is no message yet", () => {
    expect(read(...end("end_turn")).message).toBeNull();
  });

  test("may lack anything", () => {
    const bare = {
      type: "assistant",
      message: { content: [{ type: "tool_use" }, { type: "text" }] },
    };
    expect(read(event({ type: "message_start" }), bare).message).toMatchObject({
      id: null,
      model: null,
      text: "",
      uses: [{ id: "", name: "", input: {} }],
      usage: usageOf({}),
    });
  });
});

test.each([
  [{ message: { model: "<synthetic>" } }, true],
  [{ message: { model: "claude-test" }, error: "server_error" }, true],
  [{ message: { model: "claude-test" } }, false],
  [{}, false],
])("whether %j is the SDK's own word: %s", (said, expected) => {
  expect(isSynthetic(said)).toBe(expected);
});

describe("usage", () => {
  test("has what was cached, and what is cached now, among what came in", () => {
    const parts = {
      input_tokens: 10,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 2,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 4 },
    };
    expect(claudeUsage(parts)).toEqual(
      usageOf({ inputTokens: 15, outputTokens: 7, cachedTokens: 3, reasoningTokens: 4 }),
    );
  });

  test("is nothing where nothing is said", () => {
    expect(claudeUsage({})).toEqual(usageOf({}));
  });
});
