import type { Budget, BudgetTracker } from "../base/budget.ts";
import type { Deadline } from "../base/deadline.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { Session } from "../session/session.ts";
import type { ResourceRegistry } from "../tools/resources.ts";
import type { ToolChoice } from "./model-client.ts";
import type { PromptResponse } from "./output.ts";

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
