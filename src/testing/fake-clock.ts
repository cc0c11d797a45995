import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";

/** Time that moves when a test says so. */
export interface FakeClock extends Clock {
  /** Moves on; who has slept long enough wakes, in order, and may run before this resolves. */
  advance(milliseconds: number): Promise<void>;
  /** How many sleep. */
  readonly sleeping: number;
}

/** How a fake clock starts. */
export interface FakeClockOptions {
  /** Milliseconds since 1970. @default 0 */
  readonly now?: number | undefined;
  /** Who sleeps moves the time on by itself and wakes at once. @default false */
  readonly skipsSleep?: boolean | undefined;
}

/** `const clock = fakeClock()`; pass it wherever a `Clock` is taken. */
export function fakeClock({ now = 0, skipsSleep = false }: FakeClockOptions = {}): FakeClock {
  const sleepers = new Set<Sleeper>();
  let time = now;

  return {
    now: () => time,
    get sleeping() {
      return sleepers.size;
    },

    async sleep(milliseconds, signal, { background = false } = {}) {
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
      for (let next = nextBefore(until); next; next = nextBefore(until)) {
        time = Math.max(time, next.at);
        wakeUntil(time);
        await settled();
      }
      time = until;
      await settled();
    },
  };

  function nextBefore(until: number): Sleeper | undefined {
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

/** Lets everything that can go on without more time go on. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

function checkMilliseconds(milliseconds: number): void {
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return;
  throw new InvalidOptionError({
    field: "advance(milliseconds)",
    value: milliseconds,
    rule: "must be 0 or more",
    remedy: "time only moves on; make another clock for an earlier time",
  });
}
