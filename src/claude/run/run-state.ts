import type { UnknownRecord } from "../../base/json.ts";
import { noUsage, type TokenUsage } from "../../base/usage.ts";
import type { BridgedAnswer } from "../tools/tool-bridge.ts";
import { type MessageDraft, type ModelMessage, noMessage, type ToolUse } from "./model-message.ts";

/**
 * The phase of a run. `working`: the SDK works on its own. `paused`: it waits for the adapter after a
 * batch of calls. `answered`: it has a result and waits for another message. `closed`: it no longer waits.
 */
export type RunPhase = "working" | "paused" | "answered" | "closed";

/** The state of one SDK run. */
export interface RunState {
  readonly phase: RunPhase;
  /** The newest message of the model. */
  readonly draft: MessageDraft;
  /** Number of the last message whose usage and text were counted. */
  readonly lastCounted: number;
  /** Number of the last message that was returned in a step. */
  readonly lastShown: number;
  /** Number of the last message whose calls were returned in a step. */
  readonly lastHandedOut: number;
  /** Usage since the last step. */
  readonly usage: TokenUsage;
  /** Text since the last step. */
  readonly text: string;
  /** Whether the last message was cut off, so that the next message continues its text. */
  readonly isCutOff: boolean;
  /** Ids of calls to the prompt's tools that the SDK has announced since the last batch. */
  readonly announced: ReadonlySet<string>;
  /** Ids of calls to the prompt's tools that the SDK waits for. */
  readonly waiting: ReadonlySet<string>;
  /** Answers that the SDK has not collected yet, by call id. */
  readonly answers: ReadonlyMap<string, BridgedAnswer>;
  /** Texts to send to the model with its next request. */
  readonly notes: readonly string[];
  /** Native calls that have ended since the last step. */
  readonly native: readonly NativeCall[];
  /** Ids of native calls that have ended since the last batch. */
  readonly settled: ReadonlySet<string>;
  /** Whether the SDK has accepted a structured answer, so that its result follows the batch. */
  readonly isAccepted: boolean;
  /** The SDK's report of a request that it is about to retry. */
  readonly retry: UnknownRecord | null;
  /** The SDK's message about a request that failed after all retries. */
  readonly failure: UnknownRecord | null;
  /** The SDK's result message. */
  readonly result: UnknownRecord | null;
  /** An error of the adapter's work after a call, such as a rollback. The run cannot continue. */
  readonly fault: { readonly error: unknown } | null;
  /** Set after the SDK's last message; `error` is the error that it threw, or `null`. */
  readonly end: { readonly error: unknown } | null;
}

/** An ended call to a native tool. */
export interface NativeCall extends ToolUse {
  /** The tool's response, in the tool's own format. */
  readonly response: unknown;
  /** The reason why the call failed; `null` if it succeeded. */
  readonly error: string | null;
  readonly durationMs: number | null;
}

/** An event that changes the state of a run. */
export type RunInput =
  /** The SDK sent a message. */
  | { readonly type: "messageReceived"; readonly message: UnknownRecord }
  /** The SDK is about to call one of the prompt's tools, if its permission rules allow it. */
  | { readonly type: "callAnnounced"; readonly callId: string }
  /** The SDK called one of the prompt's tools and waits. */
  | { readonly type: "callStarted"; readonly callId: string }
  /** The SDK received the answer to its call. */
  | { readonly type: "answerCollected"; readonly callId: string }
  /** A native call ended. */
  | { readonly type: "nativeCallEnded"; readonly call: NativeCall }
  /** The adapter's work after a native call failed. */
  | { readonly type: "faulted"; readonly error: unknown }
  /** The SDK checked a structured answer against its schema. */
  | { readonly type: "outputChecked"; readonly isAccepted: boolean }
  /** All calls of a message ended. The SDK waits for additional text for the model. */
  | { readonly type: "batchEnded" }
  /** The SDK received the additional text and continues with its next request. */
  | { readonly type: "batchReported" }
  /** The adapter answered calls to the prompt's tools. */
  | {
      readonly type: "callsAnswered";
      readonly answers: ReadonlyMap<string, BridgedAnswer>;
      readonly notes: readonly string[];
    }
  /** The adapter sent another message to the model. */
  | { readonly type: "messageSent" }
  | { readonly type: "closed" }
  | { readonly type: "ended"; readonly error: unknown };

/** The progress of a run up to a point where the SDK waits for the adapter or has a result. */
export interface RunStep {
  /** The last message; `null` if the model has sent no message since the previous step. */
  readonly message: ModelMessage | null;
  /** The model's text. Messages that were cut off are joined with their continuations. */
  readonly text: string;
  /** Calls to the prompt's tools and to unknown tools, in the model's order. */
  readonly calls: readonly ToolUse[];
  /** Native calls that have ended since the previous step. */
  readonly native: readonly NativeCall[];
  /** Usage since the previous step. */
  readonly usage: TokenUsage;
  /** The SDK's result; `null` if the run continues. */
  readonly result: UnknownRecord | null;
  /** The SDK's message about a request that failed after all retries. */
  readonly failure: UnknownRecord | null;
  /** The SDK's report that it is about to retry the very first request. */
  readonly retry: UnknownRecord | null;
  /** Whether the SDK has retried the request since the last message. */
  readonly hasRetried: boolean;
}

/** The SDK's tool for structured answers. */
export const ANSWER_TOOL = "StructuredOutput";

/** The state of a run before its start. */
export const initialRun: RunState = Object.freeze({
  phase: "working",
  draft: noMessage,
  lastCounted: 0,
  lastShown: 0,
  lastHandedOut: 0,
  usage: noUsage,
  text: "",
  isCutOff: false,
  announced: new Set<string>(),
  waiting: new Set<string>(),
  answers: new Map<string, BridgedAnswer>(),
  notes: [],
  native: [],
  settled: new Set<string>(),
  isAccepted: false,
  retry: null,
  failure: null,
  result: null,
  fault: null,
  end: null,
});
