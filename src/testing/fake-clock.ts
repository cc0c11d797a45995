import { type Clock, sleepKeys } from "../base/clock.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";

/** A clock that a test advances manually. */
export interface FakeClock extends Clock {
  /**
   * Advances the time. Due sleeps resolve in order, and their continuations run before this
   * resolves.
   */
  advance(milliseconds: number): Promise<void>;
  /** Number of pending sleeps. */
  readonly sleeping: number;
}

/** Options of {@link fakeClock}. */
export interface FakeClockOptions {
  /** Initial time in milliseconds since 1970. @default 0 */
  readonly now?: number | undefined;
  /**
   * Makes every sleep advance the time and resolve immediately. Background sleeps still wait.
   * @default false
   */
  readonly skipsSleep?: boolean | undefined;
}

const fakeClockKeys: KnownKeys<FakeClockOptions> = { now: true, skipsSleep: true };

/**
 * Creates a clock for tests: `const clock = fakeClock()`. Pass it as any `Clock` option.
 *
 * @example
 * ```ts
 * import { Deadline } from "weakincentives";
 * import { fakeClock } from "weakincentives/testing";
 *
 * const clock = fakeClock();
 * const deadline = Deadline.after(60_000, clock);
 * clock.advance(61_000); // the deadline has passed, without waiting
 * ```
 */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  checkKnownKeys(options, "fakeClock(options)", fakeClockKeys);
  const { now = 0, skipsSleep = false } = options;
  const sleepers = new Set<Sleeper>();
  let time = now;

  return {
    now: () => time,
    get sleeping() {
      return sleepers.size;
    },

    async sleep(milliseconds, signal, sleepOptions = {}) {
      checkKnownKeys(sleepOptions, "Clock.sleep(options)", sleepKeys);
      const { background = false } = sleepOptions;
      signal?.throwIfAborted();
      if (milliseconds <= 0) return;
      if (skipsSleep && !background) {
        time += milliseconds;
        wakeUntil(time);
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const sleeper = { at: time + milliseconds, wake: resolve };
      const abort = () => reject(signal?.reason);
      sleepers.add(sleeper);
      signal?.addEventListener("abort", abort, { once: true });
      try {
        await promise;
      } finally {
        sleepers.delete(sleeper);
        signal?.removeEventListener("abort", abort);
      }
    },

    async advance(milliseconds) {
      checkMilliseconds(milliseconds);
      const until = time + milliseconds;
      for (let next = findNextSleeper(until); next; next = findNextSleeper(until)) {
        time = Math.max(time, next.at);
        wakeUntil(time);
        await settle();
      }
      time = until;
      await settle();
    },
  };

  function findNextSleeper(until: number): Sleeper | undefined {
    return [...sleepers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  }

  function wakeUntil(moment: number): void {
    const due = [...sleepers].filter(({ at }) => at <= moment).sort((a, b) => a.at - b.at);
    for (const sleeper of due) {
      sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Runs all pending work that does not wait for time to pass. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

function checkMilliseconds(milliseconds: number): void {
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return;
  throw new InvalidOptionError({
    field: "advance(milliseconds)",
    value: milliseconds,
    rule: "must be 0 or more",
    remedy: "create another clock for an earlier time",
  });
}
