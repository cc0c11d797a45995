import { type Clock, systemClock } from "./clock.ts";
import { InvalidOptionError } from "./errors.ts";

/**
 * A point in time at which work is aborted.
 *
 * @example
 * ```ts
 * import { Deadline } from "weakincentives";
 *
 * const deadline = Deadline.after(10 * 60_000); // pass it to `evaluate` as `deadline`
 * ```
 */
export class Deadline {
  /** Milliseconds since 1970, by the deadline's clock. */
  readonly expiresAtMs: number;
  readonly #clock: Clock;
  #controller: AbortController | null = null;

  private constructor(expiresAtMs: number, clock: Clock) {
    this.expiresAtMs = expiresAtMs;
    this.#clock = clock;
  }

  /**
   * Returns a deadline `milliseconds` from now. Throws `InvalidOptionError` unless it is positive
   * and finite.
   */
  static after(milliseconds: number, clock: Clock = systemClock): Deadline {
    if (Number.isFinite(milliseconds) && milliseconds > 0) {
      return new Deadline(clock.now() + milliseconds, clock);
    }
    throw new InvalidOptionError({
      field: "Deadline.after(ms)",
      value: milliseconds,
      rule: "must be a positive number of milliseconds",
      remedy: "use Deadline.after(60_000) for one minute from now",
    });
  }

  /**
   * Returns a deadline at `date`. A past date is allowed: the evaluation then fails before any
   * request.
   */
  static at(date: Date, clock: Clock = systemClock): Deadline {
    if (date instanceof Date && !Number.isNaN(date.getTime())) {
      return new Deadline(date.getTime(), clock);
    }
    throw new InvalidOptionError({
      field: "Deadline.at(date)",
      value: date instanceof Date ? "Invalid Date" : date,
      rule: "must be a valid Date",
      remedy: 'use Deadline.at(new Date("2030-01-01T12:00:00Z"))',
    });
  }

  /** Milliseconds until the deadline. Negative after it has passed. */
  remainingMs(): number {
    return this.expiresAtMs - this.#clock.now();
  }

  /**
   * Returns a signal that aborts with a `TimeoutError` at the deadline. It does not keep the
   * process alive.
   */
  signal(): AbortSignal {
    this.#controller ??= this.#startTimer();
    return this.#controller.signal;
  }

  #startTimer(): AbortController {
    const controller = new AbortController();
    const expire = () => controller.abort(new DOMException("The deadline passed", "TimeoutError"));
    const remaining = this.remainingMs();
    if (remaining <= 0) expire();
    else this.#clock.sleep(remaining, undefined, { background: true }).then(expire, expire);
    return controller;
  }
}
