import type { Approver } from "../../adapter/approvals/approval-request.ts";
import type { Slice } from "../../session/slice.ts";
import type { LoopLimits } from "./loop-limits.ts";
import type { LoopRun } from "./loop-run.ts";

/** Key of the method with which a worker runs a request. Not for applications. */
export const runRequest = Symbol("runRequest");

/** An `AgentLoop` of any request and result, as a worker sees it. */
export interface WorkerLoop {
  /** Name of the loop. */
  readonly name: string;
  /** Version of the loop. */
  readonly version: string;
  /** Limits of each run. */
  readonly limits: LoopLimits & { readonly attempts: number };
  /** Slices of the run's session. */
  readonly slices: readonly Slice[];
  /** Decides about calls that need approval; `undefined` for the default. */
  readonly approve: Approver | undefined;
  /** Runs a request that was stored. */
  [runRequest](request: unknown, run: LoopRun): Promise<unknown>;
}
