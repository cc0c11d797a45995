import { describe, expect, test } from "vitest";
import type { UnknownRecord } from "../../base/json.ts";
import { toUsage } from "../../base/usage.ts";
import { isSynthetic, noMessage, readMessage, toTokenUsage } from "./model-message.ts";

const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 3 };
const createHead = (id: string) => ({ id, type: "message", model: "claude-test", usage });
const createEvent = (event: UnknownRecord) => ({
  type: "stream_event",
  parent_tool_use_id: null,
  event,
});
const startMessage = (id: string) =>
  createEvent({ type: "message_start", message: createHead(id) });
const endMessage = (stop_reason: string) => [
  createEvent({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 5 } }),
  createEvent({ type: "message_stop" }),
];
const createBlock = (id: string, content: readonly unknown[], more: UnknownRecord = {}) => ({
  type: "assistant",
  parent_tool_use_id: null,
  message: { ...createHead(id), content, stop_reason: null, ...more },
});
const textBlock = (text: string) => ({ type: "text", text });
const use = { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } };

function readAll(...messages: readonly UnknownRecord[]) {
  let draft = noMessage;
  const reader = {
    accept(one: UnknownRecord): boolean {
      const next = readMessage(draft, one);
      draft = next ?? draft;
      return next !== null;
    },
    get message() {
      return draft.message;
    },
  };
  const accepted = messages.map((one) => reader.accept(one));
  return { reader, accepted, message: reader.message };
}

describe("readMessage() with a streamed message", () => {
  test("joins the blocks until the message ends", () => {
    const { reader, message } = readAll(
      startMessage("m1"),
      createBlock("m1", [{ type: "thinking", thinking: "Hm." }]),
      createBlock("m1", [textBlock("Let me ")]),
      createBlock("m1", [textBlock("see.")]),
      { ...createBlock("m1", [use]), request_id: "req_1" },
    );
    expect(message).toEqual({
      number: 1,
      id: "m1",
      model: "claude-test",
      requestId: "req_1",
      text: "Let me see.",
      uses: [{ id: "t1", name: "Bash", input: { command: "ls" } }],
      stopReason: null,
      usage: toUsage({ inputTokens: 13, outputTokens: 1, cachedTokens: 3 }),
      isComplete: false,
    });
    const [delta = {}, stop = {}] = endMessage("tool_use");
    reader.accept(delta);
    expect(reader.message).toMatchObject({ stopReason: "tool_use", isComplete: false });
    expect(reader.message?.usage).toEqual(
      toUsage({ inputTokens: 13, outputTokens: 5, cachedTokens: 3 }),
    );
    reader.accept(stop);
    expect(reader.message?.isComplete).toBe(true);
  });

  test("accepts a message without a stop reason", () => {
    const partial = readAll(
      startMessage("m1"),
      createBlock("m1", [textBlock("Once")]),
      createEvent({ type: "message_stop" }),
    );
    expect(partial.message).toMatchObject({ text: "Once", stopReason: null, isComplete: true });
  });

  test("returns the newest message with its number", () => {
    const { message } = readAll(
      startMessage("m1"),
      createBlock("m1", [textBlock("a")]),
      ...endMessage("end_turn"),
      startMessage("m2"),
    );
    expect(message).toMatchObject({ number: 2, id: "m2", text: "", isComplete: false });
  });
});

describe("readMessage() with a message in one piece", () => {
  test("marks the message as complete", () => {
    const { message } = readAll(
      createBlock("m1", [textBlock("a"), textBlock("b")], { stop_reason: "end_turn" }),
    );
    expect(message).toMatchObject({
      number: 1,
      text: "ab",
      stopReason: "end_turn",
      isComplete: true,
      usage: { outputTokens: 1 },
    });
  });

  test("accepts it after a streamed message", () => {
    const whole = createBlock("m2", [textBlock("b")], { stop_reason: "end_turn" });
    const { message } = readAll(
      startMessage("m1"),
      createBlock("m1", [textBlock("a")]),
      ...endMessage("max_tokens"),
      whole,
    );
    expect(message).toMatchObject({ number: 2, id: "m2", text: "b" });
  });
});

describe("readMessage()", () => {
  test("accepts messages of the main conversation", () => {
    const { accepted } = readAll(
      startMessage("m1"),
      createBlock("m1", []),
      ...endMessage("end_turn"),
    );
    expect(accepted).toEqual([true, true, true, true]);
  });

  test.each([
    ["a subagent's message", { ...createBlock("m1", [textBlock("a")]), parent_tool_use_id: "t1" }],
    ["a result", { type: "result" }],
    ["the SDK's synthetic message", createBlock("m1", [textBlock("a")], { model: "<synthetic>" })],
    ["a failure report", { ...createBlock("m1", [textBlock("a")]), error: "rate_limit" }],
  ])("ignores %s", (_, sdkMessage) => {
    const { accepted, message } = readAll(sdkMessage);
    expect([accepted, message]).toEqual([[false], null]);
  });

  test("ignores an end without a message", () => {
    expect(readAll(...endMessage("end_turn")).message).toBeNull();
  });

  test("accepts a message with missing fields", () => {
    const bare = {
      type: "assistant",
      message: { content: [{ type: "tool_use" }, { type: "text" }] },
    };
    expect(readAll(createEvent({ type: "message_start" }), bare).message).toMatchObject({
      id: null,
      model: null,
      text: "",
      uses: [{ id: "", name: "", input: {} }],
      usage: toUsage({}),
    });
  });
});

test.each([
  [{ message: { model: "<synthetic>" } }, true],
  [{ message: { model: "claude-test" }, error: "server_error" }, true],
  [{ message: { model: "claude-test" } }, false],
  [{}, false],
])("isSynthetic(%j) returns %s", (sdkMessage, expected) => {
  expect(isSynthetic(sdkMessage)).toBe(expected);
});

describe("toTokenUsage()", () => {
  test("adds cached and newly cached tokens to the input tokens", () => {
    const parts = {
      input_tokens: 10,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 2,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 4 },
    };
    expect(toTokenUsage(parts)).toEqual(
      toUsage({ inputTokens: 15, outputTokens: 7, cachedTokens: 3, reasoningTokens: 4 }),
    );
  });

  test("returns zeros for missing fields", () => {
    expect(toTokenUsage({})).toEqual(toUsage({}));
  });
});
