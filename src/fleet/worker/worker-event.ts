import type { ApprovalRequest } from "../../adapter/approvals/approval-request.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { warn } from "../../base/warn.ts";
import type { RunFailure } from "../run.ts";

/** An event of a worker, for `onEvent` of `Fleet.worker`. */
export type WorkerEvent = WorkerStarted | RunStarted | RunEnded | WorkerDraining;

/** Fields of every event of a worker. */
interface WorkerStamp {
  /** Number of the worker. */
  readonly worker: number;
  /** When it happened, in ISO 8601. */
  readonly createdAt: string;
}

/** A worker starts to fetch runs. Emitted again, with another number, if the fleet had declared the worker gone. */
export interface WorkerStarted extends WorkerStamp {
  /** Discriminates the event. */
  readonly type: "WorkerStarted";
  /** The loops it runs, as `name/version`. */
  readonly loops: readonly string[];
  /** How many runs it runs at once. */
  readonly concurrency: number;
}

/** A worker stops fetching, and gives its runs back at their next barriers. */
export interface WorkerDraining extends WorkerStamp {
  /** Discriminates the event. */
  readonly type: "WorkerDraining";
  /** Number of runs it has now. */
  readonly running: number;
}

/** An attempt at a run starts on a worker. */
export interface RunStarted extends WorkerStamp {
  /** Discriminates the event. */
  readonly type: "RunStarted";
  /** Id of the run. */
  readonly runId: string;
  /** Name of the loop. */
  readonly loop: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** An attempt at a run has ended on a worker. */
export interface RunEnded extends WorkerStamp, AttemptReport {
  /** Discriminates the event. */
  readonly type: "RunEnded";
  /** Id of the run. */
  readonly runId: string;
  /** Name of the loop. */
  readonly loop: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Duration of the attempt in milliseconds. */
  readonly durationMs: number;
}

/** How an attempt at a run ended. */
export interface AttemptReport {
  /**
   * `"retry"`: the run is tried again after `delayMs`. `"paused"`: the provider requested a pause of `delayMs`.
   * `"parked"`: `approvals` wait for a decision. `"given-back"`: the worker drains, and another one continues the run.
   * `"lost"`: another attempt has taken over, or the database could not be reached. The others are ends of the run.
   */
  readonly outcome:
    | "done"
    | "failed"
    | "dead-lettered"
    | "cancelled"
    | "retry"
    | "paused"
    | "parked"
    | "given-back"
    | "lost";
  /** Milliseconds until the run continues; `null` if it does not wait for a time. */
  readonly delayMs: number | null;
  /** The calls that wait for approval. */
  readonly approvals: readonly ApprovalRequest[];
  /** The error of the attempt; `null` without one. */
  readonly error: RunFailure | null;
  /** Tokens that the run has used so far; `null` if none were counted. */
  readonly usage: TokenUsage | null;
}

/** Receives the events of a worker. An error that it throws is a process warning. */
export type WorkerListener = (event: WorkerEvent) => void;

/** Calls a listener. Errors that it throws or rejects with do not reach the worker. */
export function notifyListener(listener: WorkerListener | undefined, event: WorkerEvent): void {
  const report = (error: unknown) => warn("onEvent of a fleet's worker failed", error);
  try {
    const returned: unknown = listener?.(Object.freeze(event));
    if (returned instanceof Promise) returned.catch(report);
  } catch (error) {
    report(error);
  }
}
