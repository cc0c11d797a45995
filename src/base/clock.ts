import { checkKnownKeys, type KnownKeys } from "./errors.ts";

/**
 * Reads the time and waits. No other code calls `Date.now` or `setTimeout`. Tests use
 * `fakeClock()`.
 */
export interface Clock {
  /** Returns the current time in milliseconds since 1970. */
  now(): number;
  /** Waits for `milliseconds`. Rejects with the signal's reason if the signal aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal, options?: SleepOptions): Promise<void>;
}

/** Options of {@link Clock.sleep}. */
export interface SleepOptions {
  /** Whether the process may exit during this wait. @default false */
  readonly background?: boolean | undefined;
}

/** The keys of {@link SleepOptions}. */
export const sleepKeys: KnownKeys<SleepOptions> = { background: true };

/** The system time. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),

  async sleep(milliseconds: number, signal?: AbortSignal, options: SleepOptions = {}) {
    checkKnownKeys(options, "Clock.sleep(options)", sleepKeys);
    const { background = false } = options;
    const endsAt = Date.now() + milliseconds;
    let remaining = milliseconds;
    do {
      await waitForTimer(Math.min(remaining, MAX_TIMER_MS), signal, background);
      remaining = endsAt - Date.now();
    } while (remaining > 0 && milliseconds > MAX_TIMER_MS);
  },
});

/**
 * Longest delay of one timer. Timers store a signed 32-bit number; a longer delay would fire
 * immediately.
 */
const MAX_TIMER_MS = 2 ** 31 - 1;

async function waitForTimer(
  milliseconds: number,
  signal: AbortSignal | undefined,
  background: boolean,
): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer: unknown = setTimeout(finish, milliseconds);
    if (background && hasUnref(timer)) timer.unref();
    signal?.addEventListener("abort", cancel, { once: true });

    function finish(): void {
      signal?.removeEventListener("abort", cancel);
      resolve();
    }
    function cancel(): void {
      clearTimeout(timer as number);
      reject(signal?.reason);
    }
  });
}

function hasUnref(timer: unknown): timer is { unref(): void } {
  return typeof timer === "object" && timer !== null && "unref" in timer;
}

/**
 * Returns the result of `work`, or throws the signal's reason as soon as `signal` aborts. The
 * outcome of `work` is then ignored.
 */
export function raceAbort<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  return signal ? raceWithSignal(work, signal) : work;
}

async function raceWithSignal<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
