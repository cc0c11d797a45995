import type { Clock } from "../../../base/clock.ts";

/**
 * Calls back after a timeout unless it is canceled. One timer serves consecutive runs: nearly all end
 * long before their timeout, and a timer for each would cost more than the runs do.
 */
export class Deadline implements Disposable {
  readonly #clock: Clock;
  readonly #disposal = new AbortController();
  #onDue: (() => void) | null = null;
  #milliseconds = 0;
  #due = 0;
  /** When the current timer fires. */
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets the timeout. It replaces the previous one. */
  set(milliseconds: number, onDue: () => void): void {
    this.#onDue = onDue;
    this.#milliseconds = milliseconds;
    this.#due = this.#clock.now() + milliseconds;
    if (this.#due < this.#wakesAt) void this.#wait(milliseconds);
  }

  cancel(): void {
    this.#onDue = null;
  }

  /** Stops the current timer. */
  [Symbol.dispose](): void {
    this.#onDue = null;
    this.#disposal.abort(DISPOSED);
  }

  async #wait(milliseconds: number): Promise<void> {
    const wakesAt = this.#clock.now() + milliseconds;
    this.#wakesAt = wakesAt;
    const { signal } = this.#disposal;
    try {
      await this.#clock.sleep(milliseconds, signal, { background: true });
    } catch {
      return; // disposed
    }
    if (this.#wakesAt !== wakesAt) return; // replaced by an earlier timer
    this.#wakesAt = Number.POSITIVE_INFINITY;
    if (this.#onDue !== null) this.#checkDue(this.#onDue);
  }

  #checkDue(onDue: () => void): void {
    // Never wait longer than requested, even if the clock was changed in the meantime.
    const left = Math.min(this.#due - this.#clock.now(), this.#milliseconds);
    if (left > 0) {
      void this.#wait(left);
      return;
    }
    this.#onDue = null;
    onDue();
  }
}

/** A string, because nothing reads the reason and creating an error is expensive. */
const DISPOSED = "over";
