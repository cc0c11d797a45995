import type { Clock } from "../../base/clock.ts";

/** Where nobody says when code has run, what is older than this is looked up again. */
const FRESH_MS = 1_000;

/** Whether what is known of a container's files may be out of date. */
export class Staleness {
  readonly #clock: Clock;
  readonly #isTold: boolean;
  #at: number;
  #hasCodeRun = false;

  /** `isTold`: somebody says when code has run; else it is a matter of time. */
  constructor(clock: Clock, { isTold = false } = {}) {
    this.#clock = clock;
    this.#isTold = isTold;
    this.#at = clock.now();
  }

  get isStale(): boolean {
    return this.#isTold ? this.#hasCodeRun : this.#clock.now() - this.#at > FRESH_MS;
  }

  codeRan(): void {
    this.#hasCodeRun = true;
  }

  refreshed(): void {
    this.#hasCodeRun = false;
    this.#at = this.#clock.now();
  }
}
