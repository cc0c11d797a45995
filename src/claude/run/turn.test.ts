import { describe, expect, test } from "vitest";
import type { HostedCall } from "../../adapter/model-client.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { noUsage } from "../../base/usage.ts";
import type { RunStep } from "./run-state.ts";
import { findAttempt, toCompaction, toTurn } from "./turn.ts";

const message = {
  number: 1,
  id: "msg_1",
  model: "claude-test",
  requestId: "req_1",
  text: "Hi.",
  uses: [],
  stopReason: "end_turn",
  usage: noUsage,
  isComplete: true,
};
const nothing = { calls: [], native: [], usage: noUsage, result: null, failure: null, retry: null };
const step = (parts: Partial<RunStep>): RunStep => ({ message, text: "Hi.", ...nothing, ...parts });
const add = { id: "t1", name: "mcp__wink__add", input: { a: 1 } };
const done = (more: UnknownRecord = {}) => ({
  subtype: "success",
  stop_reason: "end_turn",
  ...more,
});

describe("a step is a turn", () => {
  test("that calls our tools, by our names", () => {
    expect(toTurn(step({ calls: [add, { ...add, id: "t2", name: "Nope" }] }), [])).toEqual({
      text: "Hi.",
      toolCalls: [
        { name: "add", callId: "t1", arguments: '{"a":1}' },
        { name: "Nope", callId: "t2", arguments: '{"a":1}' },
      ],
      hostedCalls: [],
      finishReason: "tool_calls",
      stopReason: null,
      responseId: "msg_1",
      requestId: "req_1",
      model: "claude-test",
      goesOn: false,
    });
  });

  test("that goes on by itself, where there is nothing for us to do", () => {
    const hosted: HostedCall = {
      name: "shell",
      kind: "code_interpreter",
      callId: "t1",
      params: {},
      output: null,
      success: true,
      message: "hi",
      raw: {},
    };
    expect(toTurn(step({}), [hosted])).toMatchObject({
      goesOn: true,
      hostedCalls: [hosted],
      finishReason: "stop",
    });
  });

  test("that answers, where the run has ended", () => {
    const turn = toTurn(step({ result: done({ result: "Hi." }) }), []);
    expect(turn).toMatchObject({ text: "Hi.", goesOn: false, stopReason: "end_turn" });
  });

  test("of which nothing is known, where the model said nothing", () => {
    const turn = toTurn(step({ message: null, text: "", result: done() }), []);
    expect(turn).toMatchObject({ text: "", responseId: null, requestId: null, model: null });
  });
});

describe("arguments", () => {
  test("that are no JSON are as the model wrote them", () => {
    const input = { __unparsedToolInput: { raw: '{"a":', len: 5 } };
    expect(toTurn(step({ calls: [{ ...add, input }] }), []).toolCalls[0]?.arguments).toBe('{"a":');
  });

  test.each([{ __unparsedToolInput: "x" }, { __unparsedToolInput: { len: 5 } }])(
    "that only look so are JSON: %j",
    (input) => {
      const turn = toTurn(step({ calls: [{ ...add, input }] }), []);
      expect(turn.toolCalls[0]?.arguments).toBe(JSON.stringify(input));
    },
  );
});

describe("the answer", () => {
  test.each([
    [{ structured_output: { word: "owl" }, result: "…" }, '{"word":"owl"}'],
    [{ structured_output: [], result: "…" }, "[]"],
    [{ structured_output: null, result: "short" }, "Hi."],
    [{ result: "short" }, "Hi."],
  ])("of %j is %s", (more, text) => {
    expect(toTurn(step({ result: done(more) }), []).text).toBe(text);
  });

  test("is the SDK's own words where the model has none", () => {
    expect(toTurn(step({ text: "", result: done({ result: "short" }) }), []).text).toBe("short");
  });

  test.each([
    ["end_turn", "stop"],
    ["tool_use", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    [null, "stop"],
  ])("that stopped for %s is finished for %s", (stop_reason, finishReason) => {
    const turn = toTurn(step({ result: done({ stop_reason }) }), []);
    expect(turn).toMatchObject({ finishReason, stopReason: stop_reason });
  });
});

test("the last structured answer of a step is found, as JSON", () => {
  const attempt = (id: string, word: string) => ({ id, name: "StructuredOutput", input: { word } });
  const uses = [attempt("t1", "bat"), attempt("t2", "owl"), add];
  expect(findAttempt(step({ message: { ...message, uses } }))).toBe('{"word":"owl"}');
  expect(findAttempt(step({}))).toBeNull();
  expect(findAttempt(step({ message: null }))).toBeNull();
});

test("a compaction of the SDK is an event with its token counts", () => {
  const event = { type: "ContextCompacted", strategy: "sdk", usage: null };
  expect(toCompaction({ pre_tokens: 90, post_tokens: 9 })).toMatchObject({
    ...event,
    ...{ tokensBefore: 90, tokensAfter: 9 },
  });
  expect(toCompaction({})).toMatchObject({ ...event, tokensBefore: 0, tokensAfter: null });
});
