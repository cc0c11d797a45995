import { quoteValue } from "../../base/quote-value.ts";
import { FleetError } from "../fleet-error.ts";

/** Thrown when the fleet has no run with an id: it was never enqueued there, or it has been deleted. */
export class RunNotFoundError extends FleetError {
  override readonly name = "RunNotFoundError";
  /** The id that was passed. */
  readonly runId: string;

  constructor(runId: string) {
    const remedy = "Check the id, the database and its schema; runs are deleted after keepDoneDays";
    super(`The fleet has no run ${quoteValue(runId)}. ${remedy}.`);
    this.runId = runId;
  }
}
