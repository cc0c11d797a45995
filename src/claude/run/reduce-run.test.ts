import { describe, expect, test } from "vitest";
import type { UnknownRecord } from "../../base/json.ts";
import { noUsage, toUsage } from "../../base/usage.ts";
import { hasReadMessage, joinBatchTexts, reduceRun, takeStep } from "./reduce-run.ts";
import { initialRun, type NativeCall, type RunInput, type RunState } from "./run-state.ts";

const yes = { text: "Yes.", isError: false };
const no = { text: "No.", isError: true };
const usage = { input_tokens: 10, output_tokens: 5 };
const isNative = (name: string) => name === "Bash" || name === "StructuredOutput";

/** Returns the state after all inputs, from the start of a run. */
function reduceAll(...inputs: readonly RunInput[]): RunState {
  return inputs.reduce(reduceRun, initialRun);
}

/** Creates an input with a complete model message. */
function receiveMessage(
  id: string,
  content: readonly UnknownRecord[],
  stop_reason = "tool_use",
): RunInput {
  const message = {
    type: "assistant",
    parent_tool_use_id: null,
    message: { id, type: "message", model: "claude-test", usage, content, stop_reason },
  };
  return { type: "messageReceived", message };
}

const textBlock = (text: string): UnknownRecord => ({ type: "text", text });
const toolUse = (id: string, name: string): UnknownRecord => ({
  type: "tool_use",
  id,
  name,
  input: {},
});
const addCall = (id: string) => toolUse(id, "mcp__wink__add");
const announce = (callId: string): RunInput => ({ type: "callAnnounced", callId });
const startCall = (callId: string): RunInput => ({ type: "callStarted", callId });
const collect = (callId: string): RunInput => ({ type: "answerCollected", callId });
const answer = (answers: Readonly<Record<string, typeof yes>>, ...notes: string[]): RunInput => ({
  type: "callsAnswered",
  answers: new Map(Object.entries(answers)),
  notes,
});
const endNativeCall = (id: string): RunInput => ({
  type: "nativeCallEnded",
  call: createNativeCall(id),
});
const batchEnded: RunInput = { type: "batchEnded" };
const batchReported: RunInput = { type: "batchReported" };
const messageSent: RunInput = { type: "messageSent" };
const closed: RunInput = { type: "closed" };
const result = { type: "result", subtype: "success", result: "Done." };
const resultReceived: RunInput = { type: "messageReceived", message: result };
const synthetic: RunInput = {
  type: "messageReceived",
  message: { type: "assistant", error: "server_error", message: { model: "<synthetic>" } },
};

function createNativeCall(id: string): NativeCall {
  return { id, name: "Bash", input: {}, response: null, error: null, durationMs: 7 };
}

describe("a call to the prompt's tools in reduceRun()", () => {
  test("waits for its answer", () => {
    const waiting = reduceAll(startCall("a"));
    expect([waiting.waiting.has("a"), waiting.waiting.has("b")]).toEqual([true, false]);
    const state = reduceRun(waiting, answer({ a: yes }));
    expect(state.waiting.has("a")).toBe(false);
    expect(state.answers.get("a")).toBe(yes);
  });

  test("does not wait if its answer came first, and collects the answer once", () => {
    const state = reduceAll(answer({ a: yes }), startCall("a"));
    expect([state.waiting.has("a"), state.answers.get("a")]).toEqual([false, yes]);
    expect(joinBatchTexts(reduceRun(state, collect("a")))).toBe("");
  });

  test("gets its own answer when several calls wait", () => {
    const state = reduceAll(startCall("a"), startCall("b"), answer({ b: yes, a: no }));
    expect([state.answers.get("a"), state.answers.get("b")]).toEqual([no, yes]);
    expect([...reduceRun(state, collect("a")).answers]).toEqual([["b", yes]]);
  });

  test("produces a step only when its message is complete", () => {
    const start: RunInput = {
      type: "messageReceived",
      message: { type: "stream_event", event: { type: "message_start", message: { id: "m1" } } },
    };
    const block: RunInput = {
      type: "messageReceived",
      message: { type: "assistant", message: { id: "m1", content: [addCall("a")] } },
    };
    const stop: RunInput = {
      type: "messageReceived",
      message: { type: "stream_event", event: { type: "message_stop" } },
    };
    const state = reduceAll(start, block, startCall("a"));
    expect(takeStep(state, isNative)).toBeNull();
    expect(takeStep(reduceRun(state, stop), isNative)?.step.calls).toMatchObject([{ id: "a" }]);
  });

  test("produces one step with all calls in its message that are not native", () => {
    const content = [textBlock("Hm."), addCall("a"), toolUse("b", "Bash"), toolUse("c", "Nope")];
    const taken = takeStep(reduceAll(receiveMessage("m1", content), startCall("a")), isNative);
    expect(taken?.step).toMatchObject({
      message: { id: "m1" },
      text: "Hm.",
      calls: [{ id: "a" }, { id: "c" }],
      usage: toUsage({ inputTokens: 10, outputTokens: 5 }),
      result: null,
    });
    expect(taken?.state).toMatchObject({
      text: "",
      usage: noUsage,
      lastShown: 1,
      lastHandedOut: 1,
    });
    expect(taken && takeStep(taken.state, isNative)).toBeNull();
  });
});

describe("reduceRun() after a batch of calls", () => {
  test("pauses the run until the adapter answers, unless a step already returned the calls", () => {
    const calls = receiveMessage("m1", [toolUse("a", "Bash")]);
    const paused = reduceAll(calls, endNativeCall("a"), batchEnded);
    expect(paused.phase).toBe("paused");
    expect(takeStep(paused, isNative)?.step).toMatchObject({ calls: [], native: [{ id: "a" }] });
    expect(reduceRun(paused, answer({})).phase).toBe("working");

    const handedOut = takeStep(
      reduceAll(receiveMessage("m1", [addCall("a")]), startCall("a")),
      isNative,
    );
    expect(handedOut && reduceRun(handedOut.state, batchEnded).phase).toBe("working");
  });

  test("does not pause the run after an accepted structured answer, until the next batch", () => {
    const accepted = reduceAll(
      receiveMessage("m1", [toolUse("a", "StructuredOutput")]),
      { type: "outputChecked", isAccepted: true },
      batchEnded,
    );
    expect(accepted.phase).toBe("working");
    expect([batchReported, batchEnded].reduce(reduceRun, accepted).phase).toBe("paused");
    const rejected: RunInput = { type: "outputChecked", isAccepted: false };
    expect([rejected, batchEnded].reduce(reduceRun, accepted).phase).toBe("paused");
  });

  test("does not return a call that the SDK announced and then denied", () => {
    const content = [addCall("a"), addCall("b")];
    const state = reduceAll(receiveMessage("m1", content), announce("a"), batchEnded);
    expect(takeStep(state, isNative)?.step.calls).toMatchObject([{ id: "b" }]);
    const started = reduceAll(
      receiveMessage("m1", content),
      announce("a"),
      startCall("a"),
      batchEnded,
    );
    expect(takeStep(started, isNative)?.step.calls).toMatchObject([{ id: "a" }, { id: "b" }]);
  });

  test("joins uncollected answers in order, and notes, once", () => {
    const state = reduceAll(answer({ b: { text: "Two.", isError: true }, a: yes }, "Be quick."));
    expect(joinBatchTexts(state)).toBe("Two.\n\nYes.\n\nBe quick.");
    expect(joinBatchTexts(reduceRun(state, batchReported))).toBe("");
  });

  test("clears settled and announced calls before the next batch", () => {
    const state = reduceAll(endNativeCall("a"), announce("b"));
    expect([...state.settled, ...state.announced]).toEqual(["a", "b"]);
    const next = [batchEnded, batchReported].reduce(reduceRun, state);
    expect([next.settled.size, next.announced.size]).toEqual([0, 0]);
  });

  test("returns native calls in the model's order, after calls of earlier messages", () => {
    const earlier = endNativeCall("z");
    const content = [toolUse("a", "Bash"), toolUse("b", "Bash")];
    const ended = [endNativeCall("b"), endNativeCall("a"), batchEnded];
    const taken = takeStep(reduceAll(earlier, receiveMessage("m1", content), ...ended), isNative);
    expect(taken?.step.native.map(({ id }) => id)).toEqual(["z", "a", "b"]);
    expect(taken?.state.native).toEqual([]);
  });

  test("waits for the message with the calls, unless it can no longer arrive", () => {
    const state = reduceAll(receiveMessage("m1", [addCall("a")]));
    expect([
      hasReadMessage(state, ["a"]),
      hasReadMessage(state, ["b"]),
      hasReadMessage(state, []),
    ]).toEqual([true, false, true]);
    expect(hasReadMessage(reduceRun(state, closed), ["b"])).toBe(true);
    expect(hasReadMessage(reduceRun(state, { type: "ended", error: null }), ["b"])).toBe(true);
  });
});

describe("the result of a run in takeStep()", () => {
  test("is returned repeatedly, with the message only once", () => {
    const first = takeStep(
      reduceAll(receiveMessage("m1", [textBlock("Hi.")], "end_turn"), resultReceived),
      isNative,
    );
    expect(first?.step).toMatchObject({ result, message: { id: "m1" }, text: "Hi.", calls: [] });
    expect(first?.state).toMatchObject({ phase: "answered", lastHandedOut: 0 });
    const second = first && takeStep(first.state, isNative);
    expect(second?.step).toMatchObject({ result, message: null, text: "" });
  });

  test("is cleared with its failure when another message is sent", () => {
    const failed = reduceAll(synthetic, resultReceived);
    expect(takeStep(failed, isNative)?.step).toMatchObject({
      result,
      failure: { error: "server_error" },
    });
    const state = reduceRun(failed, messageSent);
    expect(state).toMatchObject({ phase: "working", result: null, failure: null });
    expect(takeStep(state, isNative)).toBeNull();
  });

  test("joins messages that were cut off, and otherwise keeps only the last message", () => {
    const [one, two] = [
      receiveMessage("m1", [textBlock("Once ")], "max_tokens"),
      receiveMessage("m2", [textBlock("upon")]),
    ];
    const cutOff = reduceAll(one, two);
    expect(cutOff.text).toBe("Once upon");
    expect(cutOff.usage).toEqual(toUsage({ inputTokens: 20, outputTokens: 10 }));
    expect(reduceAll(receiveMessage("m1", [textBlock("Once ")]), two).text).toBe("upon");
  });

  test("counts a message once, even if more events follow", () => {
    const ping: RunInput = {
      type: "messageReceived",
      message: { type: "stream_event", event: { type: "ping" } },
    };
    const state = reduceAll(receiveMessage("m1", [textBlock("Once ")], "max_tokens"), ping, ping);
    expect(state).toMatchObject({ text: "Once ", usage: { outputTokens: 5 } });
  });

  test("is kept after close()", () => {
    const state = reduceAll(resultReceived, closed);
    expect(state.phase).toBe("closed");
    expect(takeStep(state, isNative)?.step.result).toBe(result);
    expect(reduceAll(closed, resultReceived)).toMatchObject({ phase: "closed", result });
  });
});

describe("the SDK's reports of failed requests in reduceRun()", () => {
  const retry = { type: "system", subtype: "api_retry", error_status: 429, error: "rate_limit" };

  test("produce a step for a retry of the first request, but not after the first message", () => {
    const state = reduceAll({ type: "messageReceived", message: retry });
    expect(takeStep(state, isNative)?.step).toMatchObject({ retry, message: null });
    expect(
      takeStep(reduceRun(state, receiveMessage("m1", [textBlock("Hi.")])), isNative),
    ).toBeNull();
  });

  test("produce a step after a message was returned, if the wait is longer than allowed", () => {
    const called = reduceAll(receiveMessage("m1", [addCall("a")]), startCall("a"));
    const handedOut = takeStep(called, isNative)?.state ?? expect.fail("there is no step");
    const wait = (fields: object) =>
      reduceRun(handedOut, { type: "messageReceived", message: { ...retry, ...fields } });
    const long = wait({ retry_delay_ms: 120_000 });
    const longer = { ...retry, retry_delay_ms: 120_000 };
    expect(takeStep(long, isNative, 60_000)?.step).toMatchObject({ retry: longer, calls: [] });
    expect(takeStep(long, isNative, 120_000)).toBeNull();
    expect(takeStep(long, isNative)).toBeNull();
    // The SDK has chosen the delay.
    const overloaded = wait({ retry_delay_ms: 120_000, error_status: 529 });
    expect(takeStep(overloaded, isNative, 60_000)).toBeNull();
    // The message's calls are not in a step yet.
    const early = reduceRun(called, { type: "messageReceived", message: longer });
    expect(takeStep(early, isNative, 60_000)?.step).toMatchObject({ retry: null });
  });

  test("are ignored if a retry cannot succeed", () => {
    const permanent = { ...retry, error_status: 400, error: "invalid_request" };
    expect(reduceAll({ type: "messageReceived", message: permanent }).retry).toBeNull();
  });

  test("are cleared when the model answers later", () => {
    expect(reduceAll(synthetic).failure).not.toBeNull();
    expect(reduceAll(synthetic, receiveMessage("m1", [])).failure).toBeNull();
  });
});

describe("a closed run in reduceRun()", () => {
  test("neither waits nor pauses", () => {
    expect(reduceAll(startCall("a"), closed).waiting.size).toBe(0);
    expect(reduceAll(closed, startCall("a")).waiting.size).toBe(0);
    expect(reduceAll(receiveMessage("m1", [toolUse("a", "Bash")]), batchEnded, closed).phase).toBe(
      "closed",
    );
    expect(reduceAll(receiveMessage("m1", [toolUse("a", "Bash")]), closed, batchEnded).phase).toBe(
      "closed",
    );
  });

  test("keeps answers that were not collected", () => {
    expect(reduceAll(answer({ a: yes }), closed, startCall("a")).answers.get("a")).toBe(yes);
  });

  test("stays closed after answers and messages", () => {
    expect(reduceAll(closed, answer({ a: yes })).phase).toBe("closed");
    expect(reduceAll(resultReceived, closed, messageSent).phase).toBe("closed");
  });
});

test("reduceRun() keeps the first fault of a run, and its end with the error", () => {
  const faults = [new Error("one"), new Error("two")].map(
    (error): RunInput => ({ type: "faulted", error }),
  );
  expect(reduceAll(...faults).fault).toEqual({ error: new Error("one") });
  expect(reduceAll({ type: "ended", error: "killed" }).end).toEqual({ error: "killed" });
});

test("reduceRun() does not modify its input state", () => {
  const inputs = [
    startCall("a"),
    answer({ a: yes }, "n"),
    endNativeCall("b"),
    announce("c"),
    closed,
  ];
  const before = structuredClone(initialRun);
  for (const input of inputs) reduceRun(initialRun, input);
  expect(initialRun).toEqual(before);
});
