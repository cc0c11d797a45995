import type { Budget, BudgetTracker } from "../base/budget.ts";
import type { Deadline } from "../base/deadline.ts";
import type { InputPart } from "../prompt/input.ts";
import type { EvaluablePrompt } from "../prompt/prompt.ts";
import type { Session } from "../session/session.ts";
import type { ResourceRegistry } from "../tools/resources.ts";
import type { Approver } from "./approvals/approval-request.ts";
import type { EvaluationStream } from "./evaluation-stream.ts";
import type { ToolChoice } from "./model-client.ts";
import type { PromptResponse } from "./prompt-response.ts";

declare module "../tools/tool-context.ts" {
  /** The adapter's part of a tool context. */
  interface ToolContext {
    /** The adapter that runs the evaluation. Use it to evaluate other prompts. */
    readonly adapter: ProviderAdapter;
  }
}

/** Evaluates prompts with one provider. */
export interface ProviderAdapter {
  /** Name of the provider, such as `"openai"`. */
  readonly name: string;
  /**
   * Sends a prompt to the model, runs its tool calls, and resolves with the final answer. Required
   * params must be bound.
   */
  evaluate<Output, State extends string = string>(
    prompt: EvaluablePrompt<Output, State>,
    options?: EvaluateOptions,
  ): Promise<PromptResponse<Output>>;
  /**
   * Evaluates a prompt like `evaluate`, and delivers the parts of each response as they arrive. The
   * evaluation starts at once. The adapters of this package have it; add it to your own with
   * `streamEvaluation`.
   */
  stream?<Output, State extends string = string>(
    prompt: EvaluablePrompt<Output, State>,
    options?: EvaluateOptions,
  ): EvaluationStream<Output>;
}

/** Options of one evaluation. */
export interface EvaluateOptions {
  /**
   * Session that receives the events. One evaluation at a time runs on a session.
   * @default a new session, which the response contains
   */
  readonly session?: Session | undefined;
  /**
   * The user's input for this evaluation, sent as one user message after the prompt. Untrusted text
   * belongs here or in a section with the role `"user"`.
   * @default none
   */
  readonly input?: string | readonly InputPart[] | undefined;
  /** Aborts in-flight work when it passes. */
  readonly deadline?: Deadline | undefined;
  /** Token limits of this evaluation. */
  readonly budget?: Budget | undefined;
  /** Tracker shared with other evaluations, checked in addition to `budget`. */
  readonly budgetTracker?: BudgetTracker | undefined;
  /** Resources of this evaluation. They take precedence over the template's. */
  readonly resources?: ResourceRegistry | undefined;
  /** Cancels the evaluation, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of requests. @default 50 */
  readonly maxTurns?: number | undefined;
  /**
   * Which tools the model may or must call. A restriction to some tools holds for the whole
   * evaluation; a forced call only until it is made. @default the adapter's choice, or "auto"
   */
  readonly toolChoice?: ToolChoice | undefined;
  /** `false` omits all hosted tools; an array allows only those names or kinds. @default true */
  readonly allowHostedTools?: boolean | readonly string[] | undefined;
  /** Whether to continue the history stored in the session. @default false */
  readonly continue?: boolean | undefined;
  /**
   * Whether to continue the session's last evaluation where it stopped, for example in another process.
   * Turns that were answered are not sent again, and calls of `once` tools are not started twice. An
   * evaluation that has its answer returns it. Begins if the session has no evaluation. @default false
   */
  readonly resume?: boolean | undefined;
  /**
   * What to do while another process, or another session object, evaluates on the stored session:
   * `"refuse"` rejects before any request, `"wait"` waits and then reads the session again.
   * @default "refuse"
   */
  readonly ifClaimed?: "refuse" | "wait" | undefined;
  /**
   * Decides about each call that needs approval, for example by asking a person: `"approve"` runs it, `"deny"` tells
   * the model that it was denied, and `"park"` stops the evaluation with `EvaluationParkedError` after the other
   * calls of the turn, until it is resumed with `approvals`. An error denies the call. @default denies every call
   */
  readonly approve?: Approver | undefined;
  /**
   * Decisions about parked calls, by `ApprovalRequest.key`, for an evaluation with `resume`. They take precedence
   * over `approve`. @default none
   */
  readonly approvals?: Readonly<Record<string, "approve" | "deny">> | undefined;
}
