import { getErrorMessage } from "../../base/errors.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { FleetError } from "../fleet-error.ts";

/** Why a run is no longer retried. */
export interface DeadLetterDetails {
  /** Number of attempts without a new turn. */
  readonly attempts: number;
  /** The error of the last attempt. @default the last attempt left none: its process was killed, for example */
  readonly cause?: unknown;
}

/** Thrown to a caller that waits for the result of a run that is no longer retried. `cause` is its last error. */
export class RunDeadLetteredError extends FleetError {
  override readonly name = "RunDeadLetteredError";
  /** Id of the run. */
  readonly runId: string;
  /** Number of attempts without a new turn. */
  readonly attempts: number;

  constructor(runId: string, { attempts, cause }: DeadLetterDetails) {
    const why = cause === undefined ? "" : ` The last error: ${getErrorMessage(cause)}`;
    super(
      `The run ${quoteValue(runId)} was dead-lettered after ${attempts} attempts without a new turn. Fix the cause, and call fleet.retry.${why}`,
      { cause },
    );
    this.runId = runId;
    this.attempts = attempts;
  }
}
