import type { Budget, BudgetTracker } from "../base/budget.ts";
import type { Deadline } from "../base/deadline.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { Session } from "../session/session.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { ResourceRegistry } from "../tools/resources.ts";
import type { FinishReason, HostedCall, ToolChoice } from "./model-client.ts";

declare module "../tools/tool-context.ts" {
  interface ToolContext {
    readonly adapter: ProviderAdapter;
  }
}

/** Runs prompts on one provider. */
export interface ProviderAdapter {
  readonly name: string;
  evaluate<Output>(
    prompt: Prompt<Output>,
    options: EvaluateOptions,
  ): Promise<PromptResponse<Output>>;
}

/** How one prompt is to be evaluated. */
export interface EvaluateOptions {
  readonly session: Session;
  /** Aborts what is in flight when it passes. */
  readonly deadline?: Deadline | undefined;
  readonly budget?: Budget | undefined;
  /** A tracker shared with other evaluations; held to besides `budget`. */
  readonly budgetTracker?: BudgetTracker | undefined;
  /** Win over the template's. */
  readonly resources?: ResourceRegistry | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How many requests may be made. @default 50 */
  readonly maxTurns?: number | undefined;
  /** @default the adapter's, which is "auto" */
  readonly toolChoice?: ToolChoice | undefined;
  /** `false` leaves all hosted tools out, a list all but those names or kinds. @default true */
  readonly allowHostedTools?: boolean | readonly string[] | undefined;
  /** Go on from the session's stored history. @default false */
  readonly continue?: boolean | undefined;
}

/** What `evaluate` resolves to. */
export interface PromptResponse<Output> {
  readonly promptName: string;
  /** `null` once it was read as `output`. */
  readonly text: string | null;
  /** The text itself where the prompt declares no output schema. */
  readonly output: Output;
  readonly hostedOutputs: HostedOutputs;
  /** Every call the provider ran, in order. */
  readonly hostedCalls: readonly HostedCall[];
  readonly citations: readonly Citation[];
  /** Summed over all turns. */
  readonly usage: TokenUsage;
  /** In US dollars, by the provider's own estimate; left out where it gives none. */
  readonly costUsd?: number;
  readonly finishReason: FinishReason;
  readonly responseId: string | null;
}

/** What hosted tools gave back, over all turns: typed by the tool, or `unknown` by its name. */
export interface HostedOutputs extends ReadonlyMap<string, unknown> {
  /** `undefined` if the model did not use it. */
  get<Config extends object, Output>(tool: HostedTool<Config, Output>): Output | undefined;
  get(name: string): unknown;
}
