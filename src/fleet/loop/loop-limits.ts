import type { Budget } from "../../base/budget.ts";

/** Limits of each run of an `AgentLoop`. */
export interface LoopLimits {
  /** Number of attempts without a new turn after which a run is dead-lettered. @default 5 */
  readonly attempts?: number | undefined;
  /**
   * Milliseconds from the moment that a run may start until it fails, over all attempts. Waiting for approval does not
   * count. With `execute`, from each call.
   * @default no deadline
   */
  readonly deadlineMs?: number | undefined;
  /** Token limits of a run, over all attempts. @default none */
  readonly budget?: Budget | undefined;
  /** Maximum number of turns of a run, over all attempts. @default 50 */
  readonly maxTurns?: number | undefined;
}
