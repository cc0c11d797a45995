import { quoteValue } from "../../base/quote-value.ts";
import { FleetError } from "../fleet-error.ts";

/** Thrown to a caller that waits for the result of a run that was cancelled. */
export class RunCancelledError extends FleetError {
  override readonly name = "RunCancelledError";
  /** Id of the run. */
  readonly runId: string;
  /** The reason that was passed to `cancel`. */
  readonly reason: string;

  constructor(runId: string, reason: string) {
    super(
      `The run ${quoteValue(runId)} was cancelled: ${reason}. Enqueue it again if you need its result.`,
    );
    this.runId = runId;
    this.reason = reason;
  }
}
