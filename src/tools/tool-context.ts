import type { BudgetTracker } from "../base/budget.ts";
import type { Deadline } from "../base/deadline.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import type { EventBus } from "../session/event-bus.ts";
import type { Session } from "../session/session.ts";
import type { Resources } from "./resources.ts";
import type { ToolResult } from "./tool-result.ts";

/**
 * Objects that a tool handler can access. Other modules add members by declaration merging:
 * `prompt` adds `prompt` and `renderedPrompt`, `adapter` adds `adapter`.
 */
export interface ToolContext {
  /** The session of the evaluation. */
  readonly session: Session;
  /** The event bus of the session. */
  readonly bus: EventBus;
  /** Resources bound for the evaluation. */
  readonly resources: Resources;
  /** The workspace's files, or `null` if the prompt has no workspace. */
  readonly filesystem: Filesystem | null;
  /** Deadline of the evaluation, or `null`. */
  readonly deadline: Deadline | null;
  /** Tracks the evaluation's token budget; `null` without a budget. */
  readonly budgetTracker: BudgetTracker | null;
  /** Aborts when the evaluation is canceled or its deadline passes. */
  readonly signal: AbortSignal;
  /** The provider's output. Set only if the provider ran the tool. */
  readonly providerOutput?: unknown;
}

// Taken from a method, because methods are bivariant: this makes any Tool<P, R> assignable to Tool.

/** Runs a tool with validated params. */
export type ToolHandler<Params, Result> = {
  run(params: Params, context: ToolContext): ToolResult<Result> | Promise<ToolResult<Result>>;
}["run"];
