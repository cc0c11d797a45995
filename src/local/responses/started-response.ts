import type { WireItem } from "../../openai/wire.ts";
import type { UsageMeter } from "../turn/usage-meter.ts";
import type { CheckedRequest } from "./check/request.ts";
import type { Conversation } from "./conversation/conversation.ts";
import type { ConnectionResponses } from "./conversation/conversations.ts";
import type { TurnListener } from "./turn-progress.ts";

/** A validated request and the response that has started for it. */
export interface StartedResponse {
  readonly request: CheckedRequest;
  /** The client's time limit in milliseconds for one run of code; `null` if it sent none. */
  readonly codeTimeoutMs: number | null;
  readonly conversation: Conversation;
  /** The response object, with the status `in_progress`, or `queued` in the background. */
  readonly response: WireItem;
  /** The tokens that the model has reported so far. */
  readonly usage: UsageMeter;
  /** Whether the model answers. A response without an answer prepares the conversation for the next request. */
  readonly generate: boolean;
  /** Where the next requests of the same connection find this response; `null` over HTTP. */
  readonly recent: ConnectionResponses | null;
}

/** How a request on a connection differs from a single HTTP request. */
export interface ConnectionOptions {
  /** Responses that requests of the same connection can continue. @default null */
  readonly recent?: ConnectionResponses | null | undefined;
  /** Whether the model answers. @default true */
  readonly generate?: boolean | undefined;
}

/** Starts and finishes responses. Connections and background runs use it without knowing how a turn runs. */
export interface ResponseRunner {
  /** Validates a request. Throws the error that OpenAI would return, before anything runs. */
  start(body: unknown, codeTimeoutMs?: number | null, options?: ConnectionOptions): StartedResponse;
  /** Runs the turn and returns the finished response. The turn waits for its listener. */
  finish(started: StartedResponse, signal: AbortSignal, listener?: TurnListener): Promise<WireItem>;
}
