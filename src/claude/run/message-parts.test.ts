import { describe, expect, test } from "vitest";
import type { UnknownRecord } from "../../base/json.ts";
import { MessageParts } from "./message-parts.ts";
import type { MessagePart } from "./start-block.ts";

type Received = MessagePart | "restart";

/** Reads SDK messages and returns the parts. */
function read(
  messages: readonly UnknownRecord[],
  { isStructured = false, received = [] as Received[] } = {},
) {
  const findNative = (name: string) =>
    name === "Bash"
      ? { kind: "shell", codeField: "command" }
      : name === "Read"
        ? { kind: "claude_read", codeField: undefined }
        : null;
  const parts = new MessageParts(
    { isStructured, findNative },
    { onPart: (part) => received.push(part), onRestart: () => received.push("restart") },
  );
  for (const message of messages) {
    if (message["type"] === "turn") parts.startTurn();
    else parts.read(message);
  }
  return received;
}

const toEvent = (event: UnknownRecord, more: UnknownRecord = {}): UnknownRecord => ({
  type: "stream_event",
  parent_tool_use_id: null,
  event,
  ...more,
});
const start = (id: string) => toEvent({ type: "message_start", message: { id } });
const startBlock = (index: number, content_block: UnknownRecord) =>
  toEvent({ type: "content_block_start", index, content_block });
const addDelta = (index: number, delta: UnknownRecord) =>
  toEvent({ type: "content_block_delta", index, delta });
const text = (index: number, value: string) => [
  startBlock(index, { type: "text", text: "" }),
  addDelta(index, { type: "text_delta", text: value }),
];
const call = (index: number, name: string, json: string) => [
  startBlock(index, { type: "tool_use", id: `call_${index}`, name, input: {} }),
  addDelta(index, { type: "input_json_delta", partial_json: json }),
];
const stop = (stop_reason: string | null, more: UnknownRecord = {}) => [
  ...(stop_reason === null ? [] : [toEvent({ type: "message_delta", delta: { stop_reason } })]),
  toEvent({ type: "message_stop" }, more),
];
const abandonFrom = (from_block_index: number) => ({ abandoned_blocks: { from_block_index } });
const toTextPart = (delta: string) => ({ type: "text", delta });
const newTurn = { type: "turn" };

describe("MessageParts", () => {
  test("delivers text and reasoning, and skips signatures and unknown blocks", () => {
    const messages = [
      start("m1"),
      startBlock(0, { type: "thinking", thinking: "", signature: "" }),
      addDelta(0, { type: "thinking_delta", thinking: "Hm." }),
      addDelta(0, { type: "signature_delta", signature: "c2ln" }),
      startBlock(1, { type: "redacted_thinking", data: "c2VjcmV0" }),
      ...text(2, "Yes."),
      addDelta(9, { type: "text_delta", text: "of no block" }),
      toEvent({ type: "content_block_stop", index: 2 }),
      ...stop("end_turn"),
    ];
    expect(read(messages)).toEqual([{ type: "reasoning", delta: "Hm." }, toTextPart("Yes.")]);
  });

  test("delivers content that a block has from the start", () => {
    const block = { type: "tool_use", id: "c", name: "mcp__wink__look", input: { at: 1 } };
    expect(
      read([start("m1"), startBlock(0, { type: "text", text: "Hi." }), startBlock(1, block)]),
    ).toEqual([
      toTextPart("Hi."),
      { type: "toolCall", callId: "c", name: "look", delta: "" },
      { type: "toolCall", callId: "c", name: "look", delta: '{"at":1}' },
    ]);
  });

  test("delivers calls under the user's names, and native calls with their code", () => {
    const messages = [
      start("m1"),
      ...call(0, "mcp__wink__look", '{"at":'),
      ...call(1, "unknown", "{}"),
      ...call(2, "Bash", '{"command": "ls'),
      addDelta(2, { type: "input_json_delta", partial_json: '", "description": "no"}' }),
      ...call(3, "Read", '{"file_path": "a"}'),
    ];
    const bash = { type: "hostedCall", callId: "call_2", kind: "shell", status: "in_progress" };
    const file = {
      type: "hostedCall",
      callId: "call_3",
      kind: "claude_read",
      status: "in_progress",
    };
    expect(read(messages)).toEqual([
      { type: "toolCall", callId: "call_0", name: "look", delta: "" },
      { type: "toolCall", callId: "call_0", name: "look", delta: '{"at":' },
      { type: "toolCall", callId: "call_1", name: "unknown", delta: "" },
      { type: "toolCall", callId: "call_1", name: "unknown", delta: "{}" },
      bash,
      { ...bash, delta: "ls" },
      file,
    ]);
  });

  test("skips subagents, other messages, and the SDK's own reports", () => {
    const subagent = { ...start("m1"), parent_tool_use_id: "toolu_1" };
    const message = { id: "m2", model: "<synthetic>", content: [{ type: "text", text: "Error" }] };
    const synthetic = { type: "assistant", message };
    expect(read([subagent, synthetic, { type: "result", result: "Done." }])).toEqual([]);
  });

  test("skips whole blocks of a streamed message, and delivers those of other messages", () => {
    const createWhole = (id: string, value: string, stop_reason: string | null = null) => ({
      type: "assistant",
      message: { id, content: [{ type: "text", text: value }], stop_reason },
    });
    const streamed = [start("m1"), ...text(0, "One."), createWhole("m1", "One.")];
    expect(read(streamed)).toEqual([toTextPart("One.")]);
    const whole = [createWhole("m2", "A"), createWhole("m2", "B", "end_turn")];
    expect(read(whole)).toEqual([toTextPart("A"), toTextPart("B")]);
    expect(read([...streamed, ...whole])).toEqual([
      toTextPart("One."),
      "restart",
      toTextPart("A"),
      toTextPart("B"),
    ]);
  });

  test("restarts the turn if a message replaces a complete one, but not in a new turn", () => {
    const one = [start("m1"), ...text(0, "One."), ...stop("end_turn")];
    const two = [start("m2"), ...text(0, "Two."), ...stop("end_turn")];
    expect(read([...one, ...two])).toEqual([toTextPart("One."), "restart", toTextPart("Two.")]);
    expect(read([...one, newTurn, ...two])).toEqual([toTextPart("One."), toTextPart("Two.")]);
  });

  test.each(["max_tokens", null])(
    "continues the text of a message that was cut off with the stop reason %s",
    (reason) => {
      const messages = [
        start("m1"),
        ...text(0, "One, "),
        ...stop(reason),
        start("m2"),
        ...text(0, "two."),
      ];
      expect(read(messages)).toEqual([toTextPart("One, "), toTextPart("two.")]);
    },
  );

  test("withdraws abandoned blocks, and delivers the others of the turn again", () => {
    const messages = [
      start("m1"),
      ...text(0, "Zero, "),
      ...stop("max_tokens"),
      start("m2"),
      ...text(0, "one, "),
      ...text(1, "tw"),
      ...stop(null, abandonFrom(1)),
      start("m3"),
      ...text(0, "two."),
    ];
    expect(read(messages)).toEqual([
      ...["Zero, ", "one, ", "tw"].map(toTextPart),
      "restart",
      ...["Zero, ", "one, ", "two."].map(toTextPart),
    ]);
  });

  test("withdraws only the newest message if it never ends", () => {
    const messages = [
      start("m1"),
      ...text(0, "One, "),
      ...stop("max_tokens"),
      start("m2"),
      ...text(0, "lost"),
      start("m3"),
      ...text(0, "two."),
    ];
    expect(read(messages)).toEqual([
      ...["One, ", "lost"].map(toTextPart),
      "restart",
      ...["One, ", "two."].map(toTextPart),
    ]);
  });
});

describe("MessageParts of a structured answer", () => {
  const answer = (index: number, json: string) => call(index, "StructuredOutput", json);
  const structured = { isStructured: true };

  test("delivers the answer's JSON as compact text, and drops the text beside it", () => {
    const messages = [
      start("m1"),
      ...text(0, "Here:"),
      ...answer(1, '{ "a": '),
      addDelta(1, { type: "input_json_delta", partial_json: '" b " }' }),
      ...stop("tool_use"),
    ];
    expect(read(messages, structured)).toEqual([toTextPart('{"a":'), toTextPart('" b "}')]);
  });

  test("delivers text without an answer when its message ends", () => {
    const messages = [start("m1"), ...text(0, "I "), ...text(1, "look."), ...call(2, "look", "{}")];
    const before = read(messages, structured);
    expect(before.map((part) => part !== "restart" && part.type)).toEqual(["toolCall", "toolCall"]);
    expect(read([...messages, ...stop("tool_use")], structured).at(-1)).toEqual(
      toTextPart("I look."),
    );
  });

  test("keeps text of a message that was cut off until the next message has ended", () => {
    const messages = [start("m1"), ...text(0, "One, "), ...stop("max_tokens")];
    expect(read(messages, structured)).toEqual([]);
    const next = [start("m2"), ...text(0, "two."), ...stop("end_turn")];
    expect(read([...messages, ...next], structured)).toEqual([toTextPart("One, two.")]);
  });

  test("drops held text with its message or turn, and with abandoned blocks", () => {
    const lost = [start("m1"), ...text(0, "lost")];
    const next = [start("m2"), ...text(0, "kept"), ...stop("end_turn")];
    expect(read([...lost, ...next], structured)).toEqual([toTextPart("kept")]);
    expect(read([...lost, ...stop(null), newTurn, ...next], structured)).toEqual([
      toTextPart("kept"),
    ]);
    const abandoned = [...lost, ...stop(null, abandonFrom(0))];
    expect(read([...abandoned, ...next], structured)).toEqual([toTextPart("kept")]);
  });

  test("withdraws an abandoned answer, and delivers text of the same message", () => {
    const messages = [
      start("m1"),
      ...text(0, "Here: "),
      ...answer(1, '{"a'),
      ...stop(null, abandonFrom(1)),
      start("m2"),
      ...text(0, "none."),
      ...stop("end_turn"),
    ];
    expect(read(messages, structured)).toEqual([
      toTextPart('{"a'),
      "restart",
      toTextPart("Here: none."),
    ]);
    const partly = [
      start("m1"),
      ...answer(0, "{}"),
      ...text(1, "and"),
      ...stop("end_turn", abandonFrom(1)),
    ];
    expect(read(partly, structured)).toEqual([toTextPart("{}")]);
  });
});
