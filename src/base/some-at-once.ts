/** How many are done at a time, and what ends them. */
export interface SomeAtOnceOptions {
  readonly atOnce: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does `work` for each item, a few at a time. After the first failure none is begun, and it is
 * thrown once those under way are over; so is the signal's reason.
 */
export async function someAtOnce<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
  { atOnce, signal }: SomeAtOnceOptions,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const goOn = async () => {
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
  await Promise.all(Array.from({ length: atOnce }, goOn));
  if (failures.length > 0) throw failures[0];
}
