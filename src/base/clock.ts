/** The one door to time: nothing else calls `Date.now` or `setTimeout`. Tests use `fakeClock()`. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits; rejects with the signal's reason if that aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal, options?: SleepOptions): Promise<void>;
}

export interface SleepOptions {
  /** This wait alone does not keep the process alive. @default false */
  readonly background?: boolean | undefined;
}

/** The machine's own time. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),

  async sleep(
    milliseconds: number,
    signal?: AbortSignal,
    { background = false }: SleepOptions = {},
  ) {
    const until = Date.now() + milliseconds;
    let left = milliseconds;
    do {
      await oneTimer(Math.min(left, LONGEST_TIMER), signal, background);
      left = until - Date.now();
    } while (left > 0 && milliseconds > LONGEST_TIMER);
  },
});

/** Timers hold a 32-bit number: anything longer would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

async function oneTimer(
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
 * What `work` gives, unless `signal` aborts first: then its reason is thrown at once, and how
 * `work` ends no longer matters to anybody.
 */
export async function orAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (!signal) return await work;
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
