import type { ApprovalRequest } from "../adapter/approvals/approval-request.ts";
import type { TokenUsage } from "../base/usage.ts";

/** The states of a run, in the order of its life. The last four are its ends. */
export const RUN_STATES = [
  "waiting",
  "running",
  "parked",
  "done",
  "failed",
  "cancelled",
  "dead-lettered",
] as const;

/**
 * The state of a run. `"parked"`: it waits for approval, or for a provider that requested a long pause.
 * `"dead-lettered"`: too many attempts in a row ended without a new turn; `Fleet.retry` starts it again.
 */
export type RunState = (typeof RUN_STATES)[number];

declare const resultType: unique symbol;

/** The id of a run, a UUID, which carries the type of its result. */
export type RunId<Result = unknown> = string & {
  /** Never set. It carries the type of the result. */
  readonly [resultType]?: Result;
};

/** The run of an enqueued request, new or found by its key. */
export interface EnqueuedRun<Result = unknown> {
  /** Id of the run, and of its session. */
  readonly id: RunId<Result>;
  /** Name of the loop. */
  readonly loop: string;
  /** Whether this call created the run. `false` if a run with the same key exists. */
  readonly isNew: boolean;
}

/** The error of a run, as it was stored. `Fleet.result` throws the error itself. */
export interface RunFailure {
  /** Name of the error's class. */
  readonly name: string;
  /** Message of the error. */
  readonly message: string;
}

/** One request of an `AgentLoop` on a fleet, from the queue to its end, as it was when it was read. */
export interface Run {
  /** Id of the run, and of its session. */
  readonly id: string;
  /** Name of the loop. */
  readonly loop: string;
  /** Version of the loop. */
  readonly version: string;
  /** The key with which it was enqueued; `null` without one. */
  readonly key: string | null;
  /** The group with which it was enqueued; `null` without one. */
  readonly group: string | null;
  /** The request, as it was enqueued. */
  readonly request: unknown;
  /** The state now. */
  readonly state: RunState;
  /** Number of attempts so far. */
  readonly attempt: number;
  /** Number of attempts in a row without a new turn. */
  readonly stuck: number;
  /** Number of attempts that were lost with their workers. Each may have paid for one turn in vain. */
  readonly lost: number;
  /** Number of the worker that has the run, as in `Fleet.workers`; `null` if none has. */
  readonly worker: number | null;
  /** The calls that wait for approval. */
  readonly approvals: readonly ApprovalRequest[];
  /** Tokens used, as of the last attempt that ended; `null` before. */
  readonly usage: TokenUsage | null;
  /** The error of the last attempt that failed; `null` if there was none. */
  readonly error: RunFailure | null;
  /** Why the run was cancelled; `null` if it was not. */
  readonly cancelReason: string | null;
  /** When the run may start, in ISO 8601; `null` for at once. */
  readonly notBefore: string | null;
  /** When the run fails, in ISO 8601; `null` without a deadline. */
  readonly deadline: string | null;
  /** When the run was enqueued, in ISO 8601. */
  readonly createdAt: string;
  /** When the run ended, in ISO 8601; `null` before. */
  readonly endedAt: string | null;
}

/** Returns whether a run has ended. A dead-lettered or failed run can be started again with `Fleet.retry`. */
export function isOver(state: RunState): boolean {
  return (
    state === "done" || state === "failed" || state === "cancelled" || state === "dead-lettered"
  );
}
