/** The most files that are transferred concurrently. */
export const TRANSFER_LIMIT = 8;

/**
 * Runs `work` for each item, at most `TRANSFER_LIMIT` at a time. After a failure no new work starts;
 * the first error is thrown when the running work has settled.
 */
export async function forEachTransfer<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | null = null;
  const one = async () => {
    for (let next = left.next(); !next.done && !failure; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: TRANSFER_LIMIT }, one));
  const failed = failure as { readonly error: unknown } | null;
  if (failed) throw failed.error;
}
