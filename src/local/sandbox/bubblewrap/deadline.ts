import type { Clock } from "../../../base/clock.ts";

/**
 * Calls back when a time is up that has not been called off. One wait serves run after run: nearly
 * all end long before their time, and a wait of its own for each would cost more than they do.
 */
export class Deadline implements Disposable {
  readonly #clock: Clock;
  readonly #over = new AbortController();
  #onDue: (() => void) | null = null;
  #milliseconds = 0;
  #due = 0;
  /** When the wait ends that is under way. */
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One at a time: it takes the place of the one before. */
  after(milliseconds: number, onDue: () => void): void {
    this.#onDue = onDue;
    this.#milliseconds = milliseconds;
    this.#due = this.#clock.now() + milliseconds;
    if (this.#due < this.#wakesAt) void this.#wait(milliseconds);
  }

  callOff(): void {
    this.#onDue = null;
  }

  /** Ends the wait that is under way. */
  [Symbol.dispose](): void {
    this.#onDue = null;
    this.#over.abort(OVER);
  }

  async #wait(milliseconds: number): Promise<void> {
    const wakesAt = this.#clock.now() + milliseconds;
    this.#wakesAt = wakesAt;
    const { signal } = this.#over;
    try {
      await this.#clock.sleep(milliseconds, signal, { background: true });
    } catch {
      return; // disposed of: nobody is called any more
    }
    if (this.#wakesAt !== wakesAt) return; // one that ends sooner has taken over
    this.#wakesAt = Number.POSITIVE_INFINITY;
    if (this.#onDue !== null) this.#look(this.#onDue);
  }

  #look(onDue: () => void): void {
    // No longer than was asked for, wherever the clock has been set to meanwhile.
    const left = Math.min(this.#due - this.#clock.now(), this.#milliseconds);
    if (left > 0) {
      void this.#wait(left);
      return;
    }
    this.#onDue = null;
    onDue();
  }
}

/** Nobody reads it, and an error would be dear to make. */
const OVER = "over";
