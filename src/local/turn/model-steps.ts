import { StepFault } from "../step-fault.ts";

/** Numbers the model's steps of one server. A step that cannot be performed is taken again by the next request. */
export class ModelSteps {
  #next = 0;
  readonly #returned = new Set<number>();

  /** Takes the first step that no request has performed, from 0. */
  take(): number {
    if (this.#returned.size === 0) return this.#next++;
    const step = Math.min(...this.#returned);
    this.#returned.delete(step);
    return step;
  }

  /**
   * Returns the error to throw for a step that has failed. If the step could not be performed, the error names
   * it, and the next request takes it again.
   */
  fail(step: number, error: unknown): unknown {
    if (!(error instanceof StepFault)) return error;
    this.#returned.add(step);
    return error.atStep(step + 1);
  }
}
