import { addUsage, type TokenUsage } from "../../base/usage.ts";

/** Sums the token usage that a model reports for the calls of one turn. */
export class UsageMeter {
  #sum: TokenUsage | null = null;
  #isComplete = true;
  #isCalling = false;

  /** Marks the start of a call of the model. `add` marks its end. */
  begin(): void {
    this.#isCalling = true;
  }

  /** Adds the usage of one call of the model: `null` if the model did not report it. */
  add(usage: TokenUsage | null): void {
    this.#isCalling = false;
    if (usage === null) this.#isComplete = false;
    else this.#sum = this.#sum ? addUsage(this.#sum, usage) : usage;
  }

  /** Whether the model is being called, and may report the usage of all calls. */
  get isPending(): boolean {
    return this.#isCalling && this.#isComplete;
  }

  /** The usage of all calls so far, or `null` if there was none or one was not reported. */
  get reported(): TokenUsage | null {
    return this.#isComplete ? this.#sum : null;
  }
}
