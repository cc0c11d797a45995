import type { TokenUsage } from "../base/usage.ts";
import type { InputPart } from "../prompt/input.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { WorkspaceManifest } from "../prompt/sections/workspace-slice.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Snapshotable } from "../tools/open-resources.ts";
import type { NeedsApproval, ToolContext } from "../tools/tool-context.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { ApprovableCall } from "./approvals/approvable-call.ts";
import type { Verdict } from "./approvals/decide-approval.ts";
import type { CompactionChange } from "./context-compacted.ts";
import type { EgressReport } from "./egress/egress-report.ts";
import type { TurnObserver } from "./turn-observer.ts";

/**
 * One conversation with a provider, driven by `evaluate`. The client stores the conversation in the
 * form its API needs and receives only the changes in each turn.
 */
export interface ModelClient {
  /** Name of the provider, used in events and in checks of provider-specific tools. */
  readonly adapterName: string;
  /** Whether the client can continue the history stored in the session. @default false */
  readonly canContinue?: boolean | undefined;
  /**
   * The model as the caller names it, for traces and for the price of turns that do not report their cost.
   * @default the model that each turn reports
   */
  readonly model?: string | null | undefined;
  /**
   * Hosted tools to add to the prompt. The prompt's tools take precedence by kind.
   * @default none
   */
  readonly hostedTools?: readonly HostedTool[] | undefined;
  /**
   * Checks a prompt before the first request. Returns the hosted tools to omit, and throws if the
   * prompt cannot be run. `forbidden` are the tools that `allowHostedTools` has removed.
   * @default accepts everything
   */
  check?(rendered: RenderedPrompt, forbidden: readonly Omission[]): readonly Omission[];
  /**
   * Sends one request and returns its response. On failure the conversation stays unchanged, so
   * that the same request can be sent again. Throws `ThrottleError` if a retry may help, otherwise
   * `PromptEvaluationError`.
   */
  send(request: TurnRequest): Promise<Turn>;
  /**
   * Prepares to continue an evaluation after its last stored turn, and returns that turn. Called once,
   * before `send`, and also for an evaluation that has its answer. Its calls may have been answered or
   * not: the next request has all answers. Sends nothing.
   * @default the client cannot resume
   */
  resume?(resumed: ResumedTurn): Turn | Promise<Turn>;
  /**
   * Returns each hosted tool's output for all of its calls in all turns, by name.
   * @default the outputs of its calls: their lists joined, and of other values the last
   */
  hostedOutputs?(): Iterable<readonly [name: string, output: unknown]>;
  /**
   * Called once after the answer, before `end`: shortens the conversation for the next evaluation,
   * for example. The caller gets the answer even if this fails. Return soon after `signal` aborts.
   * @default does nothing
   */
  finish?(options: { readonly signal: AbortSignal }): Promise<FinishedConversation>;
  /**
   * Keeps the files of the workspace that a local call may have changed, in a stored session. Returns `null` if
   * nothing has changed.
   * @default the client has no workspace
   */
  keepFiles?(): Promise<WorkspaceManifest | null>;
  /**
   * Releases the conversation's resources, after success or failure, before another evaluation may
   * use the session.
   * @default does nothing
   */
  end?(): Promise<void>;
  /**
   * Called once after `end`. Returns a function that creates the report of what was sent; it is called when the
   * caller reads the report, so it should not keep the conversation alive.
   * @default the report is empty
   */
  egress?(): () => EgressReport;
}

/** A hosted tool that the provider cannot run, and the reason. */
export interface Omission {
  /** The omitted tool. */
  readonly tool: HostedTool;
  /** Why the tool is omitted. */
  readonly reason: string;
}

/** The last stored turn of an interrupted evaluation. */
export interface ResumedTurn {
  /** Number of the turn, starting at 1. */
  readonly number: number;
  /** The turn as far as its event has it: without delegated calls and without changes of the history. */
  readonly turn: Turn;
  /** The turn's calls that the provider delegates. Return them in `delegatedCalls`, ready to run. */
  readonly delegatedCalls: readonly DelegatedCallData[];
  /** Hosted calls of earlier turns, for `hostedOutputs`. */
  readonly earlierCalls: readonly HostedCall[];
  /** The prompt as rendered now. */
  readonly rendered: RenderedPrompt;
}

/** Input of one turn: the changes since the last turn and the tool choice. */
export interface TurnRequest {
  /** Number of the turn, starting at 1. */
  readonly turn: number;
  /** The prompt as rendered for this turn. */
  readonly rendered: RenderedPrompt;
  /**
   * The user's input for this evaluation, in the first turn: one user message after the prompt.
   * @default none
   */
  readonly input?: readonly InputPart[] | undefined;
  /** Results of the last turn's tool calls, in order. */
  readonly answers: readonly ToolAnswer[];
  /** Results of the last turn's delegated calls, in order. */
  readonly delegatedResults: readonly HostedCall[];
  /** Additional text for the model: feedback after calls that the provider ran. */
  readonly notes: readonly string[];
  /** Whether the model must call a tool. */
  readonly toolChoice: ToolChoice;
  /** Aborts the request on cancellation or at the deadline. */
  readonly signal: AbortSignal;
  /**
   * Receives the parts of the response as they arrive, and progress.
   * @default the turn has no observer
   */
  readonly observer?: TurnObserver | undefined;
  /**
   * Whether a tool handler started this evaluation. Its conversation is not the session's.
   * @default false
   */
  readonly isNested?: boolean | undefined;
  /**
   * Whether another process can continue this evaluation, because the session is stored.
   * @default false
   */
  readonly isDurable?: boolean | undefined;
  /**
   * The provider's id of a response that an earlier process submitted for this turn and did not receive.
   * The client fetches it instead of sending the request, if the provider still has it.
   * @default there is none
   */
  readonly submittedId?: string | undefined;
  /** Reports, and in stored sessions stores, the id of a response in the background. Await it before waiting. */
  onSubmitted?(responseId: string): Promise<void>;
  /** Stores the files of the workspace before the request is sent. Only in stored sessions. */
  onKept?(manifest: WorkspaceManifest): Promise<void>;
  /**
   * Decides about a call that the client runs itself, and whose tool needs approval. After the answer `"parked"`, do
   * not run the call, and end the turn as soon as possible: the evaluation stops then.
   */
  decideCall?(call: ApprovableCall): Promise<Verdict>;
  /** Reports that the provider no longer has the response `submittedId`, before the request is sent. */
  onResubmitted?(responseId: string): void;
}

/** The result of a tool call, to be sent to the model. */
export interface ToolAnswer {
  /** The call that this answers. */
  readonly call: ToolCall;
  /** The tool's result. */
  readonly result: ToolResult<unknown>;
  /** The text that the model reads. */
  readonly text: string;
}

/** The model's response to one request. */
export interface Turn {
  /** The model's text. */
  readonly text: string;
  /** Calls to run locally, in this order. */
  readonly toolCalls: readonly ToolCall[];
  /** Calls that the provider has already run, parsed. */
  readonly hostedCalls: readonly HostedCall[];
  /** Calls of hosted tools that the provider delegates to this process, in order. @default none */
  readonly delegatedCalls?: readonly DelegatedCall[] | undefined;
  /** Citations in `text`. */
  readonly citations: readonly Citation[];
  /** Tokens used by the request. */
  readonly usage: TokenUsage;
  /** Why the model stopped. */
  readonly finishReason: FinishReason;
  /** Why the model stopped early, in the provider's terms. @default unknown */
  readonly stopReason?: string | null | undefined;
  /** The provider's id of the response. */
  readonly responseId: string | null;
  /** The provider's id of the request. */
  readonly requestId: string | null;
  /** The model that responded. */
  readonly model: string | null;
  /**
   * Whether the provider continues without input, so that this turn is not the answer.
   * @default false
   */
  readonly continues?: boolean | undefined;
  /**
   * Cost in US dollars, as reported by the provider, of this turn and of the turns before it that have none.
   * @default estimated from the price table
   */
  readonly costUsd?: number | undefined;
  /**
   * The containers that the client created or used itself for the turn, for their price. Those of hosted calls may be
   * omitted.
   * @default none
   */
  readonly containerIds?: readonly string[] | undefined;
  /**
   * Memory tier of the turn's containers, such as `"1g"`, for their price.
   * @default the first tier of the price table
   */
  readonly containerTier?: string | undefined;
  /** How the conversation changed, for `HistoryAdvanced`. @default not reported */
  readonly history?: HistoryStep | undefined;
  /** Changes of the stored compaction, published together with `TurnCompleted`. @default none */
  readonly compactionChanges?: readonly CompactionChange[] | undefined;
  /** The files of the workspace after the turn, for `WorkspaceKept`. @default not changed */
  readonly workspace?: WorkspaceManifest | undefined;
}

/** The result of a client's work after the answer. */
export interface FinishedConversation {
  /** Tokens used after the answer. */
  readonly usage: TokenUsage;
  /** The containers that the client used after the answer, for their price. @default none */
  readonly containerIds?: readonly string[] | undefined;
  /** Memory tier of these containers. @default the first tier of the price table */
  readonly containerTier?: string | undefined;
  /** How the conversation changed, for `HistoryAdvanced`. @default not changed */
  readonly history?: HistoryStep | undefined;
  /** Changes of the stored compaction, published together with `HistoryAdvanced`. @default none */
  readonly compactionChanges?: readonly CompactionChange[] | undefined;
  /** The files of the workspace after the answer, for `WorkspaceKept`. @default not changed */
  readonly workspace?: WorkspaceManifest | undefined;
}

/** How a turn changed a conversation, in the provider's own items. */
export interface HistoryStep {
  /** Number of earlier items that remain. 0 starts a new conversation. */
  readonly kept: number;
  /** Items added after them. */
  readonly added: readonly object[];
  /**
   * JSON that the client needs, with the items, to resume after this step. Only in stored sessions.
   * @default nothing
   */
  readonly resumePoint?: object | undefined;
}

/** Why the model stopped. */
export type FinishReason = "stop" | "length" | "content_filter" | "tool_calls" | "error";

/** A call that the model requests and that runs locally. */
export interface ToolCall {
  /** Name of the tool. */
  readonly name: string;
  /** The model's id of the call. */
  readonly callId: string;
  /** Arguments as JSON, exactly as the model wrote them. */
  readonly arguments: string;
}

/** A hosted tool call and its outcome. */
export interface HostedCall<Output = unknown> {
  /** Name of the tool. */
  readonly name: string;
  /** Kind of the tool, such as `"web_search"`. */
  readonly kind: string;
  /** The provider's id of the call. */
  readonly callId: string;
  /**
   * Params of the call: validated if the tool declares them, otherwise as the provider sent them.
   */
  readonly params: unknown;
  /** The output, or `null` if there is none. */
  readonly output: Output | null;
  /** Whether the call succeeded. */
  readonly success: boolean;
  /** A short description of the outcome. */
  readonly message: string;
  /** Container in which the call ran, if the provider reports it. */
  readonly containerId?: string | undefined;
  /** The provider's item, unmodified. */
  readonly raw: object;
}

/** The provider's report of a call that it delegates to this process. */
export type DelegatedCallData = Pick<HostedCall, "name" | "kind" | "callId" | "params" | "raw">;

/** A hosted tool call that the provider delegates to this process. */
export interface DelegatedCall<Output = unknown> extends DelegatedCallData {
  /**
   * State that the call may change, in addition to session, resources and workspace.
   * @default none
   */
  readonly touches?: readonly Snapshotable[] | undefined;
  /** Whether the call waits for approval before it runs. @default false */
  readonly needsApproval?: NeedsApproval<unknown> | undefined;
  /** Runs the call. Throwing makes it a failed call. */
  run(context: ToolContext): Promise<HostedOutcome<Output>>;
}

/** The outcome of a hosted call. */
export type HostedOutcome<Output = unknown> = Pick<
  HostedCall<Output>,
  "output" | "success" | "message"
>;

/**
 * Which tools the model may or must call. `"required"` and a choice of one tool hold until they are
 * met, and become `"auto"` then, so that the model can answer.
 */
export type ToolChoice = "auto" | "none" | "required" | AllowedTools | ChosenTool;

/** Restricts the model to some of the prompt's tools, for the whole evaluation. */
export interface AllowedTools {
  /** Always `"allowed_tools"`. */
  readonly type: "allowed_tools";
  /** `"required"`: the model must call one of the tools first, and may call them after that. */
  readonly mode: "auto" | "required";
  /** The tools that the model may call. At least one is available from the start. */
  readonly tools: readonly ChosenTool[];
}

/** One tool of the prompt: the tool that the model must call, or one that it may call. */
export type ChosenTool =
  | {
      /** A tool that runs locally. */
      readonly type: "function";
      /** Name of the tool. */
      readonly name: string;
    }
  | {
      /** A hosted tool. */
      readonly type: "built_in";
      /** Name of the tool. */
      readonly name: string;
    }
  | {
      /** The tools of an MCP server. */
      readonly type: "mcp";
      /** Label of the server. */
      readonly serverLabel: string;
      /** Name of one tool of the server. @default any of its tools */
      readonly name?: string | undefined;
    }
  | {
      /** A kind of hosted tool, such as `"web_search"`, or a type that only the provider knows. */
      readonly type: string;
    };
