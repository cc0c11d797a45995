import type { UnknownRecord } from "../../base/reading.ts";
import { noUsage, type TokenUsage } from "../../base/usage.ts";
import type { BridgedAnswer } from "../tools/tool-bridge.ts";
import { type MessageDraft, type ModelMessage, noMessage, type ToolUse } from "./model-message.ts";

/**
 * What the SDK does in a run: `working` by itself; `paused` after the calls of a message, until it is
 * answered; `answered` with a result, until it gets another message. When `closed`, it waits for nothing.
 */
export type RunPhase = "working" | "paused" | "answered" | "closed";

/** Everything known about one run of the SDK. */
export interface RunState {
  readonly phase: RunPhase;
  /** The newest message of the model. */
  readonly draft: MessageDraft;
  /** Numbers of the last message that was counted, reported in a step, and whose calls were handed out. */
  readonly counted: number;
  readonly shown: number;
  readonly handedOut: number;
  /** Usage and text since the last step. */
  readonly usage: TokenUsage;
  readonly text: string;
  /** The last message was cut off, so the next one continues its text. */
  readonly isCutOff: boolean;
  /** Calls of our tools that the SDK has announced since the last batch. */
  readonly announced: ReadonlySet<string>;
  /** Calls of our tools that the SDK waits for. */
  readonly waiting: ReadonlySet<string>;
  /** Answers that the SDK has not collected yet. */
  readonly answers: ReadonlyMap<string, BridgedAnswer>;
  /** What the model is to read before its next request. */
  readonly notes: readonly string[];
  /** Calls of the SDK's own tools that have ended since the last step. */
  readonly native: readonly NativeCall[];
  /** Calls of the SDK's own tools that have ended since the last batch. */
  readonly settled: ReadonlySet<string>;
  /** The SDK has accepted a structured answer, so its result follows the batch. */
  readonly isAccepted: boolean;
  /** The SDK's report of a request that it is about to send again. */
  readonly retry: UnknownRecord | null;
  /** The SDK's own message about a request that failed for good. */
  readonly failure: UnknownRecord | null;
  readonly result: UnknownRecord | null;
  /** Our own work after a call failed, so the run cannot continue. */
  readonly fault: { readonly error: unknown } | null;
  /** The SDK has sent its last message; `error` is what it threw, or `null`. */
  readonly end: { readonly error: unknown } | null;
}

/** A call of one of the SDK's own tools that has ended. */
export interface NativeCall extends ToolUse {
  /** In the tool's own shape. */
  readonly response: unknown;
  /** Why it failed; `null` if it succeeded. */
  readonly error: string | null;
  readonly durationMs: number | null;
}

/** Something that happens in a run. */
export type RunInput =
  /** The SDK sent a message. */
  | { readonly type: "said"; readonly said: UnknownRecord }
  /** The SDK is about to call one of our tools, if its permission rules allow it. */
  | { readonly type: "announced"; readonly callId: string }
  /** The SDK called one of our tools and waits. */
  | { readonly type: "called"; readonly callId: string }
  /** The SDK was given the answer to its call. */
  | { readonly type: "collected"; readonly callId: string }
  /** A call of one of the SDK's own tools ended. */
  | { readonly type: "nativeEnded"; readonly call: NativeCall }
  /** Our own work after a call failed. */
  | { readonly type: "faulted"; readonly error: unknown }
  /** The SDK has checked a structured answer against its schema. */
  | { readonly type: "structured"; readonly isAccepted: boolean }
  /** All calls of a message have ended; the SDK asks what the model is to read besides. */
  | { readonly type: "batchEnded" }
  /** The SDK was told that, and goes on to its next request. */
  | { readonly type: "batchTold" }
  /** We answered calls of our tools. */
  | {
      readonly type: "answered";
      readonly answers: ReadonlyMap<string, BridgedAnswer>;
      readonly notes: readonly string[];
    }
  /** We sent another message to the model. */
  | { readonly type: "asked" }
  | { readonly type: "closed" }
  | { readonly type: "ended"; readonly error: unknown };

/** What has happened up to a point at which the SDK waits for us or has ended. */
export interface RunStep {
  /** The last message; `null` if the model has said nothing since the step before. */
  readonly message: ModelMessage | null;
  /** What the model said, joined where it was cut off and continued. */
  readonly text: string;
  /** Calls of anything but the SDK's own tools, in the model's order. */
  readonly calls: readonly ToolUse[];
  readonly native: readonly NativeCall[];
  readonly usage: TokenUsage;
  /** How the run ended; `null` if it continues. */
  readonly result: UnknownRecord | null;
  /** What the SDK said about a request that failed for good. */
  readonly failure: UnknownRecord | null;
  /** The SDK is about to send the very first request again after a pause. */
  readonly retry: UnknownRecord | null;
}

/** The SDK's own tool for an answer that has a schema. */
export const ANSWER_TOOL = "StructuredOutput";

/** A run that has not started. */
export const initialRun: RunState = Object.freeze({
  phase: "working",
  draft: noMessage,
  counted: 0,
  shown: 0,
  handedOut: 0,
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
