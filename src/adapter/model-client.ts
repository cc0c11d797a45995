import type { TokenUsage } from "../base/usage.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Snapshotable } from "../tools/open-resources.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { ToolResult } from "../tools/tool-result.ts";

/**
 * What a provider supplies to be driven by `evaluate`: one conversation. It keeps the conversation
 * itself, in whatever form its wire has, and is only told what is new.
 */
export interface ModelClient {
  readonly adapterName: string;
  /** It can go on from the history that the session keeps. @default false */
  readonly canContinue?: boolean | undefined;
  /** Besides the prompt's own, whose kinds win. @default none */
  readonly hostedTools?: readonly HostedTool[] | undefined;
  /**
   * Looks at a prompt before anything is sent: says which hosted tools to leave out, and throws
   * where it cannot be run at all. @default everything is fit
   */
  check?(rendered: RenderedPrompt): readonly Omission[];
  /**
   * One request, one answer. A failure leaves the conversation as it was, so that the same request
   * may be sent again: `ThrottleError` where that may help, `PromptEvaluationError` where not.
   */
  send(request: TurnRequest): Promise<Turn>;
  /** What each hosted tool gave over all turns, by name. @default each one's last output */
  hostedOutputs?(): Iterable<readonly [name: string, output: unknown]>;
  /**
   * Gives up what the conversation holds, whatever came of it, before another evaluation may work on
   * the session. @default it holds nothing
   */
  end?(): Promise<void>;
}

/** A hosted tool that a provider cannot run, and why. */
export interface Omission {
  readonly tool: HostedTool;
  readonly reason: string;
}

/** What is new since the last turn, and what the model may do now. */
export interface TurnRequest {
  /** Counted from 1. */
  readonly turn: number;
  readonly rendered: RenderedPrompt;
  /** To the calls of the last turn, in their order. */
  readonly answers: readonly ToolAnswer[];
  /** What the asked calls of the last turn came to, in their order. */
  readonly performed: readonly HostedCall[];
  /** For the model to read besides: feedback after calls that the provider ran. */
  readonly notes: readonly string[];
  readonly toolChoice: ToolChoice;
  readonly signal: AbortSignal;
  /** Whether it is within a handler's turn: its conversation is then not the session's. @default false */
  readonly isNested?: boolean | undefined;
}

/** What a tool gave, on its way back to the model. */
export interface ToolAnswer {
  readonly call: ToolCall;
  readonly result: ToolResult<unknown>;
  /** What the model is to read. */
  readonly text: string;
}

/** What the model did with one request. */
export interface Turn {
  readonly text: string;
  /** To be run here, in this order. */
  readonly toolCalls: readonly ToolCall[];
  /** Already run by the provider, and parsed. */
  readonly hostedCalls: readonly HostedCall[];
  /** Asked of us, for hosted tools to run here, in this order. @default none */
  readonly askedCalls?: readonly AskedCall[] | undefined;
  readonly citations: readonly Citation[];
  readonly usage: TokenUsage;
  readonly finishReason: FinishReason;
  /** Why it stopped early, in the provider's word. @default it does not say */
  readonly stopReason?: string | null | undefined;
  readonly responseId: string | null;
  readonly requestId: string | null;
  readonly model: string | null;
  /** The provider goes on by itself, with nothing to be run here: no answer yet. @default false */
  readonly goesOn?: boolean | undefined;
  /** What it cost in US dollars, by the provider's own estimate. @default it does not say */
  readonly costUsd?: number | undefined;
  /** What the conversation was changed by, for `TurnCompleted` to tell. @default nothing is told */
  readonly history?: HistoryStep | undefined;
}

/** How a turn changed a conversation, in the provider's own items. */
export interface HistoryStep {
  /** How many of the items before it stay; 0 starts a conversation. */
  readonly kept: number;
  readonly added: readonly object[];
}

/** Why the model stopped. */
export type FinishReason = "stop" | "length" | "content_filter" | "tool_calls" | "error";

/** A call that the model wants run here. */
export interface ToolCall {
  readonly name: string;
  readonly callId: string;
  /** JSON, exactly as the model wrote it. */
  readonly arguments: string;
}

/** A call the provider has already run. */
export interface HostedCall<Output = unknown> {
  readonly name: string;
  readonly kind: string;
  readonly callId: string;
  readonly params: unknown;
  /** `null` if nothing came back. */
  readonly output: Output | null;
  readonly success: boolean;
  readonly message: string;
  /** Where it ran, if the provider says. */
  readonly containerId?: string | undefined;
  /** What the provider sent. */
  readonly raw: object;
}

/** A call of a hosted tool that the provider asks to have run here. */
export interface AskedCall<Output = unknown>
  extends Pick<HostedCall<Output>, "name" | "kind" | "callId" | "params" | "raw"> {
  /** What it may change besides the session, the resources and the workspace. @default nothing */
  readonly touches?: readonly Snapshotable[] | undefined;
  /** A throw is a failed call. */
  run(context: ToolContext): Promise<HostedOutcome<Output>>;
}

/** What a hosted call came to. */
export type HostedOutcome<Output = unknown> = Pick<
  HostedCall<Output>,
  "output" | "success" | "message"
>;

/** What the model must do: decide, call nothing, call something, or call this. */
export type ToolChoice =
  | "auto"
  | "none"
  | "required"
  | { readonly type: "function"; readonly name: string }
  | { readonly type: "built_in"; readonly name: string }
  | { readonly type: string };
