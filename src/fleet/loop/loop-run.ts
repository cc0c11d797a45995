import type { Approver } from "../../adapter/approvals/approval-request.ts";
import type { BarrierListener, onBarrier } from "../../adapter/resume/barrier.ts";
import type { maxThrottleWaitMs } from "../../adapter/throttle.ts";
import type { StreamFeed, streamFeed } from "../../adapter/turn-observer.ts";
import type { Deadline } from "../../base/deadline.ts";
import type { Session } from "../../session/session.ts";

/** Where and how a request of a loop runs. */
export interface LoopRun {
  readonly session: Session;
  readonly folder: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly deadline: Deadline | undefined;
  readonly approve: Approver | undefined;
  readonly approvals: Readonly<Record<string, "approve" | "deny">>;
  /** The library's own options of `evaluate`. */
  readonly internal: InternalOptions;
  /** Returns whether the run can continue after this error, so that its workspace is kept instead of synced. */
  canContinue(error: unknown): boolean;
}

/** Options of `evaluate` that only the library passes. */
export interface InternalOptions {
  /** Called at each barrier. */
  readonly [onBarrier]?: BarrierListener | undefined;
  /** The longest wait for a throttled request. */
  readonly [maxThrottleWaitMs]?: number | undefined;
  /** Receives the parts of every response. */
  readonly [streamFeed]?: StreamFeed | undefined;
}
