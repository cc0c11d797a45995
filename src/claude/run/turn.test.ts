import { describe, expect, test } from "vitest";
import type { HostedCall } from "../../adapter/model-client.ts";
import type { UnknownRecord } from "../../base/json.ts";
import { noUsage } from "../../base/usage.ts";
import type { RunStep } from "./run-state.ts";
import { findAttemptedAnswer, toCompactionEvent, toTurn } from "./turn.ts";

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
const empty = {
  calls: [],
  native: [],
  usage: noUsage,
  result: null,
  failure: null,
  retry: null,
  hasRetried: false,
};
const createStep = (parts: Partial<RunStep>): RunStep => ({
  message,
  text: "Hi.",
  ...empty,
  ...parts,
});
const add = { id: "t1", name: "mcp__wink__add", input: { a: 1 } };
const createResult = (more: UnknownRecord = {}) => ({
  subtype: "success",
  stop_reason: "end_turn",
  ...more,
});

describe("toTurn()", () => {
  test("returns calls under the names of the prompt's tools", () => {
    expect(toTurn(createStep({ calls: [add, { ...add, id: "t2", name: "Nope" }] }), [])).toEqual({
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
      continues: false,
    });
  });

  test("marks a turn without tool calls and result as continuing", () => {
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
    expect(toTurn(createStep({}), [hosted])).toMatchObject({
      continues: true,
      hostedCalls: [hosted],
      finishReason: "stop",
    });
  });

  test("returns the answer when the run has a result", () => {
    const turn = toTurn(createStep({ result: createResult({ result: "Hi." }) }), []);
    expect(turn).toMatchObject({ text: "Hi.", continues: false, stopReason: "end_turn" });
  });

  test("returns null ids if the model sent no message", () => {
    const turn = toTurn(createStep({ message: null, text: "", result: createResult() }), []);
    expect(turn).toMatchObject({ text: "", responseId: null, requestId: null, model: null });
  });
});

describe("toTurn() arguments", () => {
  test("are the model's raw text if it is not valid JSON", () => {
    const input = { __unparsedToolInput: { raw: '{"a":', len: 5 } };
    expect(toTurn(createStep({ calls: [{ ...add, input }] }), []).toolCalls[0]?.arguments).toBe(
      '{"a":',
    );
  });

  test.each([{ __unparsedToolInput: "x" }, { __unparsedToolInput: { len: 5 } }])(
    "are JSON if the input only resembles unparsed input: %j",
    (input) => {
      const turn = toTurn(createStep({ calls: [{ ...add, input }] }), []);
      expect(turn.toolCalls[0]?.arguments).toBe(JSON.stringify(input));
    },
  );
});

describe("toTurn() answer", () => {
  test.each([
    [{ structured_output: { word: "owl" }, result: "…" }, '{"word":"owl"}'],
    [{ structured_output: [], result: "…" }, "[]"],
    [{ structured_output: null, result: "short" }, "Hi."],
    [{ result: "short" }, "Hi."],
  ])("for the result %j is %s", (more, text) => {
    expect(toTurn(createStep({ result: createResult(more) }), []).text).toBe(text);
  });

  test("is the SDK's result if the model sent no text", () => {
    expect(
      toTurn(createStep({ text: "", result: createResult({ result: "short" }) }), []).text,
    ).toBe("short");
  });

  test.each([
    ["end_turn", "stop"],
    ["tool_use", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    [null, "stop"],
  ])("with stop reason %s has the finish reason %s", (stop_reason, finishReason) => {
    const turn = toTurn(createStep({ result: createResult({ stop_reason }) }), []);
    expect(turn).toMatchObject({ finishReason, stopReason: stop_reason });
  });
});

test("findAttemptedAnswer() returns a step's last structured answer as JSON", () => {
  const createAttempt = (id: string, word: string) => ({
    id,
    name: "StructuredOutput",
    input: { word },
  });
  const uses = [createAttempt("t1", "bat"), createAttempt("t2", "owl"), add];
  expect(findAttemptedAnswer(createStep({ message: { ...message, uses } }))).toBe('{"word":"owl"}');
  expect(findAttemptedAnswer(createStep({}))).toBeNull();
  expect(findAttemptedAnswer(createStep({ message: null }))).toBeNull();
});

test("toCompactionEvent() returns an event with the SDK's token counts", () => {
  const event = { type: "ContextCompacted", strategy: "sdk", usage: null };
  expect(toCompactionEvent({ pre_tokens: 90, post_tokens: 9 })).toMatchObject({
    ...event,
    ...{ tokensBefore: 90, tokensAfter: 9 },
  });
  expect(toCompactionEvent({})).toMatchObject({ ...event, tokensBefore: 0, tokensAfter: null });
});
