import type { UnknownRecord } from "../../base/json.ts";
import { addUsage, noUsage } from "../../base/usage.ts";
import { isSynthetic, readMessage, type ToolUse } from "./model-message.ts";
import { isRetryable, readRetryAfter } from "./run-errors.ts";
import type { NativeCall, RunInput, RunState, RunStep } from "./run-state.ts";

/** Returns the state of a run after an input. Pure: `ClaudeRun` performs the side effects. */
export function reduceRun(state: RunState, input: RunInput): RunState {
  switch (input.type) {
    case "messageReceived":
      return applySdkMessage(state, input.message);
    case "callAnnounced":
      return { ...state, announced: new Set(state.announced).add(input.callId) };
    case "callStarted":
      return addCall(state, input.callId);
    case "nativeCallEnded":
      return {
        ...state,
        native: [...state.native, input.call],
        settled: new Set(state.settled).add(input.call.id),
      };
    case "faulted":
      return { ...state, fault: state.fault ?? { error: input.error } };
    case "outputChecked":
      return { ...state, isAccepted: input.isAccepted };
    case "batchEnded":
      return { ...state, settled: new Set(), phase: needsPause(state) ? "paused" : state.phase };
    case "callsAnswered":
      return {
        ...state,
        phase: state.phase === "paused" ? "working" : state.phase,
        waiting: new Set([...state.waiting].filter((id) => !input.answers.has(id))),
        answers: new Map([...state.answers, ...input.answers]),
        notes: input.notes,
      };
    case "answerCollected":
      return {
        ...state,
        answers: new Map([...state.answers].filter(([id]) => id !== input.callId)),
      };
    case "batchReported":
      return {
        ...state,
        ...{ isAccepted: false, announced: new Set(), answers: new Map(), notes: [] },
      };
    case "messageSent":
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
 * Takes the next step if the SDK waits for an answer, has a result, or would wait longer than `maxRetryMs` to repeat a
 * request. Otherwise returns `null`. `isNative` returns whether a name is a tool that the SDK runs itself.
 */
export function takeStep(
  state: RunState,
  isNative: (name: string) => boolean,
  maxRetryMs = Number.POSITIVE_INFINITY,
): { readonly step: RunStep; readonly state: RunState } | null {
  const { draft, retry, result, failure, usage, text } = state;
  const { message } = draft;
  const isReported =
    retry !== null &&
    (message === null || (hasHandedOutAll(state) && (readRetryAfter(retry) ?? 0) > maxRetryMs));
  const hasEnded = result !== null || isReported;
  const calls = hasEnded ? [] : findDueCalls(state, isNative);
  if (calls === null) return null;
  const number = message?.number ?? 0;
  const step = {
    message: number > state.lastShown ? message : null,
    ...{ text, calls, usage, result, failure },
    native: sortByUse(state.native, message?.uses ?? []),
    retry: isReported ? retry : null,
    hasRetried: retry !== null,
  };
  const lastHandedOut = hasEnded ? state.lastHandedOut : number;
  const taken = {
    lastShown: number,
    lastHandedOut,
    native: [],
    usage: noUsage,
    text: "",
    isCutOff: false,
  };
  return { step, state: { ...state, ...taken } };
}

/** Whether everything that the model has done is in the steps so far, so that the run can end without a loss. */
function hasHandedOutAll({ draft, lastHandedOut, native }: RunState): boolean {
  return draft.message?.number === lastHandedOut && native.length === 0;
}

/** Joins the texts for the model after a batch: answers that no call collected, and notes. */
export function joinBatchTexts({ answers, notes }: RunState): string {
  return [...[...answers.values()].map(({ text }) => text), ...notes].join("\n\n");
}

/** Whether the message with any of these calls was received, or can no longer arrive. */
export function hasReadMessage(
  { draft, phase, end }: RunState,
  callIds: readonly string[],
): boolean {
  if (callIds.length === 0 || phase === "closed" || end !== null) return true;
  return draft.message?.uses.some(({ id }) => callIds.includes(id)) ?? false;
}

function applySdkMessage(state: RunState, message: UnknownRecord): RunState {
  const draft = readMessage(state.draft, message);
  if (draft) return countMessage({ ...state, draft, failure: null });
  if (message["type"] === "assistant" && isSynthetic(message))
    return { ...state, failure: message };
  if (message["type"] === "result")
    return { ...state, result: message, phase: state.phase === "closed" ? "closed" : "answered" };
  if (message["subtype"] === "api_retry" && isRetryable(message))
    return { ...state, retry: message };
  return state;
}

/** Adds a message's usage and text to the state when the message is complete. */
function countMessage(state: RunState): RunState {
  const { message } = state.draft;
  if (!message?.isComplete || message.number === state.lastCounted) return state;
  return {
    ...state,
    lastCounted: message.number,
    retry: null,
    usage: addUsage(state.usage, message.usage),
    text: state.isCutOff ? state.text + message.text : message.text,
    isCutOff: message.stopReason === null || message.stopReason === "max_tokens",
  };
}

/** Adds a waiting call, unless it is already answered or the run is closed. */
function addCall(state: RunState, callId: string): RunState {
  if (state.phase === "closed" || state.answers.has(callId)) return state;
  return { ...state, waiting: new Set(state.waiting).add(callId) };
}

/** Whether the newest message's calls have not been returned in a step yet. */
function needsPause({ phase, isAccepted, draft, lastHandedOut }: RunState): boolean {
  return phase === "working" && !isAccepted && draft.message?.number !== lastHandedOut;
}

/** Returns the calls for the next step; `null` if the SDK is not waiting. */
function findDueCalls(
  state: RunState,
  isNative: (name: string) => boolean,
): readonly ToolUse[] | null {
  const { message } = state.draft;
  if (!message?.isComplete || message.number === state.lastHandedOut) return null;
  const calls = message.uses.filter(({ id, name }) => !isNative(name) && !isDenied(state, id));
  const isCalled = calls.some(({ id }) => state.waiting.has(id));
  return isCalled || state.phase === "paused" ? calls : null;
}

/** Whether the SDK announced a call but did not start it, because its permission rules deny it. */
function isDenied({ phase, announced, waiting }: RunState, callId: string): boolean {
  return phase === "paused" && announced.has(callId) && !waiting.has(callId);
}

/** Sorts calls, which may run in parallel, in the model's order. Calls of older messages come first. */
function sortByUse(calls: readonly NativeCall[], uses: readonly ToolUse[]): readonly NativeCall[] {
  const findIndex = ({ id }: ToolUse) => uses.findIndex((use) => use.id === id);
  return calls.toSorted((one, two) => findIndex(one) - findIndex(two));
}
