/** Limits of {@link forEachConcurrently}. */
export interface ConcurrencyOptions {
  /** How many items are processed at the same time. */
  readonly concurrency: number;
  /** Stops before the next item when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` for each item, with limited concurrency. After the first failure or an abort no
 * further item is started; the error or the signal's reason is thrown when the running items have
 * finished.
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
  { concurrency, signal }: ConcurrencyOptions,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const workThroughQueue = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      try {
        signal?.throwIfAborted();
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, workThroughQueue));
  if (failures.length > 0) throw failures[0];
}
