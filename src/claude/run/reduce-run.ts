import type { UnknownRecord } from "../../base/reading.ts";
import { addUsage, noUsage } from "../../base/usage.ts";
import { isSynthetic, readMessage, type ToolUse } from "./model-message.ts";
import { mayPass } from "./run-failure.ts";
import type { NativeCall, RunInput, RunState, RunStep } from "./run-state.ts";

/** Returns the state of a run after an input. It is pure: `ClaudeRun` does what must be done. */
export function reduceRun(state: RunState, input: RunInput): RunState {
  switch (input.type) {
    case "said":
      return readSaid(state, input.said);
    case "announced":
      return { ...state, announced: new Set(state.announced).add(input.callId) };
    case "called":
      return addCall(state, input.callId);
    case "nativeEnded":
      return {
        ...state,
        native: [...state.native, input.call],
        settled: new Set(state.settled).add(input.call.id),
      };
    case "faulted":
      return { ...state, fault: state.fault ?? { error: input.error } };
    case "structured":
      return { ...state, isAccepted: input.isAccepted };
    case "batchEnded":
      return { ...state, settled: new Set(), phase: needsPause(state) ? "paused" : state.phase };
    case "answered":
      return {
        ...state,
        phase: state.phase === "paused" ? "working" : state.phase,
        waiting: new Set([...state.waiting].filter((id) => !input.answers.has(id))),
        answers: new Map([...state.answers, ...input.answers]),
        notes: input.notes,
      };
    case "collected":
      return {
        ...state,
        answers: new Map([...state.answers].filter(([id]) => id !== input.callId)),
      };
    case "batchTold":
      return {
        ...state,
        ...{ isAccepted: false, announced: new Set(), answers: new Map(), notes: [] },
      };
    case "asked":
      return {
        ...state,
        phase: state.phase === "answered" ? "working" : state.phase,
        ...{ result: null, failure: null },
      };
    case "closed":
      return { ...state, phase: "closed", waiting: new Set() };
    case "ended":
      return { ...state, end: { error: input.error } };
  }
}

/**
 * Takes the step that is due: the SDK waits for us or has a result. Returns `null` while it needs
 * nothing. `isNative` tells the SDK's own tools from ours.
 */
export function takeStep(
  state: RunState,
  isNative: (name: string) => boolean,
): { readonly step: RunStep; readonly state: RunState } | null {
  const { draft, retry, result, failure, usage, text } = state;
  const { message } = draft;
  const isFirstRetry = retry !== null && message === null;
  const isOver = result !== null || isFirstRetry;
  const calls = isOver ? [] : findDueCalls(state, isNative);
  if (calls === null) return null;
  const number = message?.number ?? 0;
  const step = {
    message: number > state.shown ? message : null,
    ...{ text, calls, usage, result, failure },
    native: inOrder(state.native, message?.uses ?? []),
    retry: isFirstRetry ? retry : null,
  };
  const handedOut = isOver ? state.handedOut : number;
  const taken = { shown: number, handedOut, native: [], usage: noUsage, text: "", isCutOff: false };
  return { step, state: { ...state, ...taken } };
}

/** Joins what the model is to read after a batch: answers that the SDK did not collect, and notes. */
export function joinNews({ answers, notes }: RunState): string {
  return [...[...answers.values()].map(({ text }) => text), ...notes].join("\n\n");
}

/** Whether the message that has one of these calls was read, or can no longer come. */
export function hasRead({ draft, phase, end }: RunState, callIds: readonly string[]): boolean {
  if (callIds.length === 0 || phase === "closed" || end !== null) return true;
  return draft.message?.uses.some(({ id }) => callIds.includes(id)) ?? false;
}

function readSaid(state: RunState, said: UnknownRecord): RunState {
  const draft = readMessage(state.draft, said);
  if (draft) return countMessage({ ...state, draft, failure: null });
  if (said["type"] === "assistant" && isSynthetic(said)) return { ...state, failure: said };
  if (said["type"] === "result")
    return { ...state, result: said, phase: state.phase === "closed" ? "closed" : "answered" };
  if (said["subtype"] === "api_retry" && mayPass(said)) return { ...state, retry: said };
  return state;
}

/** Adds up the usage and text of a message once it is complete. */
function countMessage(state: RunState): RunState {
  const { message } = state.draft;
  if (!message?.isComplete || message.number === state.counted) return state;
  return {
    ...state,
    counted: message.number,
    usage: addUsage(state.usage, message.usage),
    text: state.isCutOff ? state.text + message.text : message.text,
    isCutOff: message.stopReason === null || message.stopReason === "max_tokens",
  };
}

/** The answer may be there before the call, and nothing waits once the run is closed. */
function addCall(state: RunState, callId: string): RunState {
  if (state.phase === "closed" || state.answers.has(callId)) return state;
  return { ...state, waiting: new Set(state.waiting).add(callId) };
}

/** Whether the calls of a message were not handed out before, so that they become a step now. */
function needsPause({ phase, isAccepted, draft, handedOut }: RunState): boolean {
  return phase === "working" && !isAccepted && draft.message?.number !== handedOut;
}

/** Returns the calls to hand out now; `null` if the SDK does not wait for us. */
function findDueCalls(
  state: RunState,
  isNative: (name: string) => boolean,
): readonly ToolUse[] | null {
  const { message } = state.draft;
  if (!message?.isComplete || message.number === state.handedOut) return null;
  const calls = message.uses.filter(({ id, name }) => !isNative(name) && !isDenied(state, id));
  const isCalled = calls.some(({ id }) => state.waiting.has(id));
  return isCalled || state.phase === "paused" ? calls : null;
}

/** The SDK announced the call and did not make it: its rules forbid it, and the model knows. */
function isDenied({ phase, announced, waiting }: RunState, callId: string): boolean {
  return phase === "paused" && announced.has(callId) && !waiting.has(callId);
}

/** Calls that only read run side by side; they are put into the model's order, after older ones. */
function inOrder(calls: readonly NativeCall[], uses: readonly ToolUse[]): readonly NativeCall[] {
  const place = ({ id }: ToolUse) => uses.findIndex((use) => use.id === id);
  return calls.toSorted((one, two) => place(one) - place(two));
}
