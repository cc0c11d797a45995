import { describe, expect, test } from "vitest";
import type { UnknownRecord } from "../../base/reading.ts";
import { noUsage, usageOf } from "../../base/usage.ts";
import { hasRead, joinNews, reduceRun, takeStep } from "./reduce-run.ts";
import { initialRun, type NativeCall, type RunInput, type RunState } from "./run-state.ts";

const yes = { text: "Yes.", isError: false };
const no = { text: "No.", isError: true };
const usage = { input_tokens: 10, output_tokens: 5 };
const isNative = (name: string) => name === "Bash" || name === "StructuredOutput";

/** The state after all inputs, from the beginning of a run or from `state`. */
function reduceAll(...inputs: readonly RunInput[]): RunState {
  return inputs.reduce(reduceRun, initialRun);
}

/** A whole message of the model. */
function message(
  id: string,
  content: readonly UnknownRecord[],
  stop_reason = "tool_use",
): RunInput {
  const said = {
    type: "assistant",
    parent_tool_use_id: null,
    message: { id, type: "message", model: "claude-test", usage, content, stop_reason },
  };
  return { type: "said", said };
}

const says = (text: string): UnknownRecord => ({ type: "text", text });
const uses = (id: string, name: string): UnknownRecord => ({
  type: "tool_use",
  id,
  name,
  input: {},
});
const add = (id: string) => uses(id, "mcp__wink__add");
const announced = (callId: string): RunInput => ({ type: "announced", callId });
const called = (callId: string): RunInput => ({ type: "called", callId });
const collected = (callId: string): RunInput => ({ type: "collected", callId });
const answered = (answers: Readonly<Record<string, typeof yes>>, ...notes: string[]): RunInput => ({
  type: "answered",
  answers: new Map(Object.entries(answers)),
  notes,
});
const nativeEnded = (id: string): RunInput => ({ type: "nativeEnded", call: nativeCall(id) });
const batchEnded: RunInput = { type: "batchEnded" };
const batchTold: RunInput = { type: "batchTold" };
const asked: RunInput = { type: "asked" };
const closed: RunInput = { type: "closed" };
const result = { type: "result", subtype: "success", result: "Done." };
const resultSaid: RunInput = { type: "said", said: result };
const synthetic: RunInput = {
  type: "said",
  said: { type: "assistant", error: "server_error", message: { model: "<synthetic>" } },
};

function nativeCall(id: string): NativeCall {
  return { id, name: "Bash", input: {}, response: null, error: null, durationMs: 7 };
}

describe("a call of our tools", () => {
  test("waits until it is answered", () => {
    const waiting = reduceAll(called("a"));
    expect([waiting.waiting.has("a"), waiting.waiting.has("b")]).toEqual([true, false]);
    const state = reduceRun(waiting, answered({ a: yes }));
    expect(state.waiting.has("a")).toBe(false);
    expect(state.answers.get("a")).toBe(yes);
  });

  test("that comes after its answer does not wait, and collects the answer once", () => {
    const state = reduceAll(answered({ a: yes }), called("a"));
    expect([state.waiting.has("a"), state.answers.get("a")]).toEqual([false, yes]);
    expect(joinNews(reduceRun(state, collected("a")))).toBe("");
  });

  test("gets its own answer among others", () => {
    const state = reduceAll(called("a"), called("b"), answered({ b: yes, a: no }));
    expect([state.answers.get("a"), state.answers.get("b")]).toEqual([no, yes]);
    expect([...reduceRun(state, collected("a")).answers]).toEqual([["b", yes]]);
  });

  test("makes a step only when its message is complete", () => {
    const begun: RunInput = {
      type: "said",
      said: { type: "stream_event", event: { type: "message_start", message: { id: "m1" } } },
    };
    const block: RunInput = {
      type: "said",
      said: { type: "assistant", message: { id: "m1", content: [add("a")] } },
    };
    const stop: RunInput = {
      type: "said",
      said: { type: "stream_event", event: { type: "message_stop" } },
    };
    const state = reduceAll(begun, block, called("a"));
    expect(takeStep(state, isNative)).toBeNull();
    expect(takeStep(reduceRun(state, stop), isNative)?.step.calls).toMatchObject([{ id: "a" }]);
  });

  test("makes a step once, with the other calls of its message that are not the SDK's", () => {
    const content = [says("Hm."), add("a"), uses("b", "Bash"), uses("c", "Nope")];
    const taken = takeStep(reduceAll(message("m1", content), called("a")), isNative);
    expect(taken?.step).toMatchObject({
      message: { id: "m1" },
      text: "Hm.",
      calls: [{ id: "a" }, { id: "c" }],
      usage: usageOf({ inputTokens: 10, outputTokens: 5 }),
      result: null,
    });
    expect(taken?.state).toMatchObject({ text: "", usage: noUsage, shown: 1, handedOut: 1 });
    expect(taken && takeStep(taken.state, isNative)).toBeNull();
  });
});

describe("after the calls of a message", () => {
  test("the run pauses until it is answered, unless the calls were handed out before", () => {
    const calls = message("m1", [uses("a", "Bash")]);
    const paused = reduceAll(calls, nativeEnded("a"), batchEnded);
    expect(paused.phase).toBe("paused");
    expect(takeStep(paused, isNative)?.step).toMatchObject({ calls: [], native: [{ id: "a" }] });
    expect(reduceRun(paused, answered({})).phase).toBe("working");

    const handedOut = takeStep(reduceAll(message("m1", [add("a")]), called("a")), isNative);
    expect(handedOut && reduceRun(handedOut.state, batchEnded).phase).toBe("working");
  });

  test("the run does not pause when a structured answer was accepted, until the next batch", () => {
    const accepted = reduceAll(
      message("m1", [uses("a", "StructuredOutput")]),
      { type: "structured", isAccepted: true },
      batchEnded,
    );
    expect(accepted.phase).toBe("working");
    expect([batchTold, batchEnded].reduce(reduceRun, accepted).phase).toBe("paused");
    const refused: RunInput = { type: "structured", isAccepted: false };
    expect([refused, batchEnded].reduce(reduceRun, accepted).phase).toBe("paused");
  });

  test("a call that was announced and not made is not handed out: the SDK denied it", () => {
    const content = [add("a"), add("b")];
    const state = reduceAll(message("m1", content), announced("a"), batchEnded);
    expect(takeStep(state, isNative)?.step.calls).toMatchObject([{ id: "b" }]);
    const made = reduceAll(message("m1", content), announced("a"), called("a"), batchEnded);
    expect(takeStep(made, isNative)?.step.calls).toMatchObject([{ id: "a" }, { id: "b" }]);
  });

  test("the model reads answers that no call collected, in their order, and notes, once", () => {
    const state = reduceAll(answered({ b: { text: "Two.", isError: true }, a: yes }, "Be quick."));
    expect(joinNews(state)).toBe("Two.\n\nYes.\n\nBe quick.");
    expect(joinNews(reduceRun(state, batchTold))).toBe("");
  });

  test("the next batch starts with no call settled or announced", () => {
    const state = reduceAll(nativeEnded("a"), announced("b"));
    expect([...state.settled, ...state.announced]).toEqual(["a", "b"]);
    const next = [batchEnded, batchTold].reduce(reduceRun, state);
    expect([next.settled.size, next.announced.size]).toEqual([0, 0]);
  });

  test("the SDK's own calls are told in the model's order, after those of an earlier message", () => {
    const earlier = nativeEnded("z");
    const content = [uses("a", "Bash"), uses("b", "Bash")];
    const ended = [nativeEnded("b"), nativeEnded("a"), batchEnded];
    const taken = takeStep(reduceAll(earlier, message("m1", content), ...ended), isNative);
    expect(taken?.step.native.map(({ id }) => id)).toEqual(["z", "a", "b"]);
    expect(taken?.state.native).toEqual([]);
  });

  test("the message of the calls is waited for, unless it can no longer come", () => {
    const state = reduceAll(message("m1", [add("a")]));
    expect([hasRead(state, ["a"]), hasRead(state, ["b"]), hasRead(state, [])]).toEqual([
      true,
      false,
      true,
    ]);
    expect(hasRead(reduceRun(state, closed), ["b"])).toBe(true);
    expect(hasRead(reduceRun(state, { type: "ended", error: null }), ["b"])).toBe(true);
  });
});

describe("the result of a run", () => {
  test("is a step as often as it is asked for, with the message only once", () => {
    const first = takeStep(
      reduceAll(message("m1", [says("Hi.")], "end_turn"), resultSaid),
      isNative,
    );
    expect(first?.step).toMatchObject({ result, message: { id: "m1" }, text: "Hi.", calls: [] });
    expect(first?.state).toMatchObject({ phase: "answered", handedOut: 0 });
    const second = first && takeStep(first.state, isNative);
    expect(second?.step).toMatchObject({ result, message: null, text: "" });
  });

  test("is gone, like the failure before it, when another message was sent to the model", () => {
    const failed = reduceAll(synthetic, resultSaid);
    expect(takeStep(failed, isNative)?.step).toMatchObject({
      result,
      failure: { error: "server_error" },
    });
    const state = reduceRun(failed, asked);
    expect(state).toMatchObject({ phase: "working", result: null, failure: null });
    expect(takeStep(state, isNative)).toBeNull();
  });

  test("joins messages that were cut off, and keeps only the last one otherwise", () => {
    const [one, two] = [
      message("m1", [says("Once ")], "max_tokens"),
      message("m2", [says("upon")]),
    ];
    const cutOff = reduceAll(one, two);
    expect(cutOff.text).toBe("Once upon");
    expect(cutOff.usage).toEqual(usageOf({ inputTokens: 20, outputTokens: 10 }));
    expect(reduceAll(message("m1", [says("Once ")]), two).text).toBe("upon");
  });

  test("counts a message once, whatever the SDK says of it afterwards", () => {
    const ping: RunInput = {
      type: "said",
      said: { type: "stream_event", event: { type: "ping" } },
    };
    const state = reduceAll(message("m1", [says("Once ")], "max_tokens"), ping, ping);
    expect(state).toMatchObject({ text: "Once ", usage: { outputTokens: 5 } });
  });

  test("is kept when the run is closed", () => {
    const state = reduceAll(resultSaid, closed);
    expect(state.phase).toBe("closed");
    expect(takeStep(state, isNative)?.step.result).toBe(result);
    expect(reduceAll(closed, resultSaid)).toMatchObject({ phase: "closed", result });
  });
});

describe("what the SDK says about requests", () => {
  const retry = { type: "system", subtype: "api_retry", error_status: 429, error: "rate_limit" };

  test("is a step where the first one is sent again, and none after the first message", () => {
    const state = reduceAll({ type: "said", said: retry });
    expect(takeStep(state, isNative)?.step).toMatchObject({ retry, message: null });
    expect(takeStep(reduceRun(state, message("m1", [says("Hi.")])), isNative)).toBeNull();
  });

  test("is ignored where sending it again cannot help", () => {
    const hopeless = { ...retry, error_status: 400, error: "invalid_request" };
    expect(reduceAll({ type: "said", said: hopeless }).retry).toBeNull();
  });

  test("is forgotten when the model answers after all", () => {
    expect(reduceAll(synthetic).failure).not.toBeNull();
    expect(reduceAll(synthetic, message("m1", [])).failure).toBeNull();
  });
});

describe("a run that is closed", () => {
  test("neither waits nor pauses", () => {
    expect(reduceAll(called("a"), closed).waiting.size).toBe(0);
    expect(reduceAll(closed, called("a")).waiting.size).toBe(0);
    expect(reduceAll(message("m1", [uses("a", "Bash")]), batchEnded, closed).phase).toBe("closed");
    expect(reduceAll(message("m1", [uses("a", "Bash")]), closed, batchEnded).phase).toBe("closed");
  });

  test("still gives an answer that is there", () => {
    expect(reduceAll(answered({ a: yes }), closed, called("a")).answers.get("a")).toBe(yes);
  });

  test("stays closed whatever it is answered or asked", () => {
    expect(reduceAll(closed, answered({ a: yes })).phase).toBe("closed");
    expect(reduceAll(resultSaid, closed, asked).phase).toBe("closed");
  });
});

test("the first fault of a run counts, and its end is remembered with its error", () => {
  const faults = [new Error("one"), new Error("two")].map(
    (error): RunInput => ({ type: "faulted", error }),
  );
  expect(reduceAll(...faults).fault).toEqual({ error: new Error("one") });
  expect(reduceAll({ type: "ended", error: "killed" }).end).toEqual({ error: "killed" });
});

test("no input changes the state that it was given", () => {
  const inputs = [called("a"), answered({ a: yes }, "n"), nativeEnded("b"), announced("c"), closed];
  const before = structuredClone(initialRun);
  for (const input of inputs) reduceRun(initialRun, input);
  expect(initialRun).toEqual(before);
});
