import type { Budget, BudgetTracker } from "../base/budget.ts";
import type { Deadline } from "../base/deadline.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { EvaluablePrompt } from "../prompt/prompt.ts";
import type { Session } from "../session/session.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { NativeTool } from "../tools/native-tool.ts";
import type { ProviderTool } from "../tools/provider-tool.ts";
import type { ResourceRegistry } from "../tools/resources.ts";
import type { FinishReason, HostedCall, ToolChoice } from "./model-client.ts";

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
    options: EvaluateOptions,
  ): Promise<PromptResponse<Output>>;
}

/** Options of one evaluation. */
export interface EvaluateOptions {
  /** Session that receives the events. One evaluation at a time runs on a session. */
  readonly session: Session;
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
}

/** The result of an evaluation. */
export interface PromptResponse<Output> {
  /** Name of the evaluated prompt. */
  readonly promptName: string;
  /**
   * The model's answer as it was written, also if it was parsed into `output`. The spans of
   * `citations` refer to it. Empty if the model wrote nothing, for example if it only generated an
   * image.
   */
  readonly text: string;
  /** The validated output, or the text if the prompt declares no output schema. */
  readonly output: Output;
  /** The output of each hosted tool, for all of its calls in all turns. */
  readonly hostedOutputs: HostedOutputs;
  /** All hosted calls, in order. */
  readonly hostedCalls: readonly HostedCall[];
  /**
   * All citations. Spans count UTF-16 units of `text`. Citations from earlier turns have a `null`
   * span.
   */
  readonly citations: readonly Citation[];
  /** Tokens used by all turns together. */
  readonly usage: TokenUsage;
  /** Cost in US dollars, as estimated by the provider. Absent if it reports none. */
  readonly costUsd?: number;
  /** Why the model stopped. */
  readonly finishReason: FinishReason;
  /** The provider's id of the last response, if any. */
  readonly responseId: string | null;
}

/**
 * Outputs of hosted tools over all turns: typed if looked up by tool, `unknown` if by name. It
 * cannot be changed, and its outputs are deep-frozen. `JSON.stringify` writes an object with one
 * entry per tool name. `structuredClone` keeps the data, as `{ outputs }`, but not the methods.
 */
export interface HostedOutputs extends ReadonlyMap<string, unknown> {
  /**
   * Returns the output of all calls of a tool, or `undefined` if the model did not use it. A hook's
   * or handler's result for a call is used in place of the provider's output.
   */
  get<Config extends object, Output>(tool: HostedTool<Config, Output>): Output | undefined;
  /** Returns the output of all calls of a tool, or `undefined` if the model did not use it. */
  get<Params, Result>(
    tool: NativeTool<Params, Result> | ProviderTool<Params, Result>,
  ): Result | undefined;
  /** Returns the output of the tool with this name, or `undefined` if the model did not use it. */
  get(name: string): unknown;
  /** Returns whether there is an output of a tool, or of the tool with this name. */
  has(tool: string | HostedTool | NativeTool | ProviderTool): boolean;
  /** Returns the outputs by tool name, for `JSON.stringify`. */
  toJSON(): Record<string, unknown>;
}
