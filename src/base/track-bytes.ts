import type { Clock } from "./clock.ts";

/** How many bytes one part of a transfer has done so far. */
export interface ByteProgress {
  /** The work in progress. */
  readonly step: "copy" | "pack" | "upload" | "unpack" | "fetch";
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** Receives the progress of transfers that take longer than a second. */
export interface ProgressListener {
  readonly clock: Clock;
  onProgress(progress: ByteProgress): void;
}

/** One part of a transfer, and how to read its bytes. */
export interface TrackedBytes extends Pick<ByteProgress, "step"> {
  /**
   * Returns the bytes that are done, which may be fewer than before, for example after a retry, and the bytes
   * in total, which are 0 until they are known.
   */
  read(): Omit<ByteProgress, "step">;
}

const INTERVAL_MS = 1_000;

/**
 * Runs `work` and reports its bytes once a second. Work that takes longer than a second is also reported when it
 * is done, with all bytes; work that fails is not. The reported bytes never shrink or exceed the total.
 */
export async function trackBytes<Result>(
  { clock, onProgress }: ProgressListener,
  { step, read }: TrackedBytes,
  work: () => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  let last: ByteProgress | null = null;
  const report = (done: number) => {
    const { totalBytes } = read();
    const doneBytes = Math.min(Math.max(done, last?.doneBytes ?? 0), totalBytes);
    last = { step, doneBytes, totalBytes };
    onProgress(last);
  };
  const tick = async () => {
    while (true) {
      await clock.sleep(INTERVAL_MS, ended.signal, { background: true });
      const { doneBytes, totalBytes } = read();
      if (totalBytes > 0) report(doneBytes);
    }
  };
  const ticking = tick().catch((error: unknown) => {
    if (!ended.signal.aborted) throw error;
  });
  ticking.catch(() => {}); // it is awaited below
  try {
    const result = await work();
    if (last) report(Number.POSITIVE_INFINITY);
    return result;
  } finally {
    ended.abort();
    await ticking;
  }
}
