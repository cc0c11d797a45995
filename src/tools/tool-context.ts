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
  /**
   * Identifies the call: session, turn and call id. It is the same when an interrupted call runs again, in
   * any process. Pass it to services that accept an idempotency key.
   */
  readonly callKey: string;
  /** The provider's output. Set only if the provider ran the tool. */
  readonly providerOutput?: unknown;
}

// Taken from a method, because methods are bivariant: this makes any Tool<P, R> assignable to Tool.

/**
 * Finds the outcome of a call that was started and has no result, because its process died. A result
 * is the call's answer, `"not-started"` runs the call, and `"unknown"` is reported to the model. Return `"not-started"`
 * only if the call cannot take effect any more: on several machines, its process may only be cut off.
 */
export type ToolReconciler<Params, Result> = {
  run(
    params: Params,
    context: ToolContext,
  ): Promise<ToolResult<Result> | "not-started" | "unknown">;
}["run"];

/**
 * What happens if a call is made twice. `"none"`: nothing, it may run again. `"idempotent"`: nothing more
 * than once, if `context.callKey` is passed on. `"once"`: it must never be started twice.
 */
export type ToolEffects = "none" | "idempotent" | "once";

/**
 * Decides whether a call waits for the approval of a person: always, never, or depending on its params. See
 * `approve` of `evaluate`.
 */
export type NeedsApproval<Params> =
  | boolean
  | { check(params: Params, context: ToolContext): boolean | Promise<boolean> }["check"];

/** Runs a tool with validated params. */
export type ToolHandler<Params, Result> = {
  run(params: Params, context: ToolContext): ToolResult<Result> | Promise<ToolResult<Result>>;
}["run"];
