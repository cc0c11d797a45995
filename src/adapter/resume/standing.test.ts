import { describe, expect, test } from "vitest";
import { noUsage } from "../../base/usage.ts";
import type { BusEvent } from "../../session/event-map.ts";
import { mayHaveOpenCalls, standingSlice } from "./standing.ts";

const stamp = {
  sessionId: "s",
  promptName: "test:run",
  adapter: "openai",
  createdAt: "2026-01-01T00:00:00.000Z",
};
const started: BusEvent = {
  ...stamp,
  type: "EvaluationStarted",
  inputDigest: null,
  isResumed: false,
};
const turn = {
  ...{ text: "", hostedCalls: [], usage: noUsage, durationMs: 1, requestId: null, turn: 1 },
  toolCalls: [{ name: "look", callId: "c1", arguments: "{}" }],
};
const completed: BusEvent = { ...stamp, type: "TurnCompleted", ...turn };
const result = { success: true, message: "Seen.", value: null };
const call = { name: "look", callId: "c1", params: null, result, renderedOutput: "" };
const invoked: BusEvent = {
  ...{ ...stamp, type: "ToolInvoked" as const, ...call },
  usage: null,
  durationMs: 1,
};
const failed: BusEvent = {
  ...{ ...stamp, type: "PromptFailed" as const, errorName: "Error", message: "No.", phase: null },
  usage: noUsage,
  turns: 1,
};
const executed: BusEvent = {
  ...{ ...stamp, type: "PromptExecuted" as const, text: "Done.", usage: noUsage, turns: 1 },
  finishReason: "stop",
  model: null,
  requestIds: [],
};
const submitted: BusEvent = { ...stamp, type: "TurnSubmitted", turn: 1, responseId: "resp_1" };
const resubmitted: BusEvent = { ...stamp, type: "TurnResubmitted", turn: 1, responseId: "resp_1" };

function reduce(...events: readonly BusEvent[]) {
  const kept = events.reduce<unknown>(
    (state, event) => standingSlice.reduce(state, event),
    standingSlice.first,
  );
  return standingSlice.read(kept);
}

describe("standingSlice", () => {
  test("knows the last turn, its results and the response that was submitted", () => {
    const before = reduce(started, submitted);
    expect(before).toMatchObject({ turns: 0, evaluation: { submittedId: "resp_1", last: null } });
    expect(reduce(started, submitted, resubmitted).evaluation?.submittedId).toBeNull();
    const { turns, evaluation } = reduce(started, submitted, completed, invoked);
    expect([turns, evaluation?.submittedId, evaluation?.answered.length]).toEqual([1, null, 1]);
  });

  test("ignores the events of evaluations that a handler started", () => {
    const nested = [completed, submitted, resubmitted, invoked, executed, failed].map(
      (event): BusEvent => ({ ...event, nested: true }),
    );
    expect(reduce(started, completed, ...nested)).toEqual(reduce(started, completed));
  });

  test("ignores calls and answers before the first evaluation", () => {
    const early = reduce(invoked, executed, failed);
    expect(early).toEqual({ turns: 0, evaluation: null });
  });

  test("continues a resumed evaluation, and begins if there is none", () => {
    const resumed: BusEvent = { ...started, isResumed: true };
    const { evaluation } = reduce(started, completed, failed, resumed);
    expect(evaluation).toMatchObject({ isStopped: false, last: { turn: 1 } });
    expect(reduce(resumed).evaluation).toMatchObject({ last: null, isDone: false });
  });
});

describe("mayHaveOpenCalls()", () => {
  test.each([
    ["a call without a result", [started, completed], true],
    ["no turn", [started], false],
    ["all results", [started, completed, invoked], false],
    ["an answer", [started, completed, executed], false],
    ["an error", [started, completed, failed], false],
  ] as const)("of an evaluation with %s", (_state, events, expected) => {
    const { evaluation } = reduce(...events);
    expect(evaluation && mayHaveOpenCalls(evaluation)).toBe(expected);
  });
});
