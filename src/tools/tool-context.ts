import type { BudgetTracker } from "../base/budget.ts";
import type { Deadline } from "../base/deadline.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import type { EventBus } from "../session/event-bus.ts";
import type { Session } from "../session/session.ts";
import type { Resources } from "./resources.ts";
import type { ToolResult } from "./tool-result.ts";

/**
 * What a handler may use. Rooms above this one add what they own, where they own it: the prompt
 * room adds `prompt` and `renderedPrompt`, the adapter room `adapter`.
 */
export interface ToolContext {
  readonly session: Session;
  readonly bus: EventBus;
  readonly resources: Resources;
  /** The workspace's files, if the prompt has a workspace. */
  readonly filesystem: Filesystem | null;
  readonly deadline: Deadline | null;
  readonly budgetTracker: BudgetTracker | null;
  /** Aborts when the evaluation is cancelled or its deadline passes. */
  readonly signal: AbortSignal;
  /** What the provider gave back; only where the provider ran the tool. */
  readonly providerOutput?: unknown;
}

// Taken from a method, because methods are bivariant: any Tool<P, R> is then a Tool.

/** Does a tool's work, with validated params. */
export type ToolHandler<Params, Result> = {
  run(params: Params, context: ToolContext): ToolResult<Result> | Promise<ToolResult<Result>>;
}["run"];
