import { quoteValue } from "../../base/quote-value.ts";
import { FleetError } from "../fleet-error.ts";

/** How many runs of a loop wait, and how many may. */
export interface FleetFullDetails {
  /** Name of the loop. */
  readonly loop: string;
  /** Number of its runs that wait. */
  readonly waiting: number;
  /** Number of its runs that may wait. */
  readonly maxWaiting: number;
}

/** Thrown when a run is enqueued while `maxWaiting` runs of its loop wait already. Nothing was enqueued. */
export class FleetFullError extends FleetError {
  override readonly name = "FleetFullError";
  /** Name of the loop whose queue is full. */
  readonly loop: string;
  /** Number of the loop's runs that wait. */
  readonly waiting: number;
  /** Number of the loop's runs that may wait. */
  readonly maxWaiting: number;

  constructor({ loop, waiting, maxWaiting }: FleetFullDetails) {
    const problem = `The loop ${quoteValue(loop)} has ${waiting} waiting runs, and maxWaiting is ${maxWaiting}`;
    super(`${problem}. Enqueue again later, start more workers, or raise maxWaiting.`);
    this.loop = loop;
    this.waiting = waiting;
    this.maxWaiting = maxWaiting;
  }
}
