import { type Clock, systemClock } from "./clock.ts";
import { InvalidOptionError } from "./errors.ts";

/** A moment after which work is no longer wanted. */
export class Deadline {
  /** Milliseconds since 1970, by the clock it was made with. */
  readonly expiresAtMs: number;
  readonly #clock: Clock;
  #controller: AbortController | null = null;

  private constructor(expiresAtMs: number, clock: Clock) {
    this.expiresAtMs = expiresAtMs;
    this.#clock = clock;
  }

  static after(milliseconds: number, clock: Clock = systemClock): Deadline {
    if (Number.isFinite(milliseconds) && milliseconds > 0) {
      return new Deadline(clock.now() + milliseconds, clock);
    }
    throw new InvalidOptionError({
      field: "Deadline.after(ms)",
      value: milliseconds,
      rule: "must be a positive number of milliseconds",
      remedy: "Deadline.after(60_000) is a minute from now",
    });
  }

  /** A date that has passed is allowed: the evaluation is then refused before any request. */
  static at(date: Date, clock: Clock = systemClock): Deadline {
    if (date instanceof Date && !Number.isNaN(date.getTime())) {
      return new Deadline(date.getTime(), clock);
    }
    throw new InvalidOptionError({
      field: "Deadline.at(date)",
      value: date instanceof Date ? "Invalid Date" : date,
      rule: "must be a valid Date",
      remedy: 'Deadline.at(new Date("2030-01-01T12:00:00Z"))',
    });
  }

  /** Negative once it has passed. */
  remainingMs(): number {
    return this.expiresAtMs - this.#clock.now();
  }

  /** Aborts with a `TimeoutError` when the deadline passes. Waiting for it keeps no process alive. */
  signal(): AbortSignal {
    this.#controller ??= this.#watched();
    return this.#controller.signal;
  }

  #watched(): AbortController {
    const controller = new AbortController();
    const passed = () => controller.abort(new DOMException("The deadline passed", "TimeoutError"));
    const remaining = this.remainingMs();
    if (remaining <= 0) passed();
    else this.#clock.sleep(remaining, undefined, { background: true }).then(passed, passed);
    return controller;
  }
}
