/** So many files are on their way at once. */
export const TRANSFERS_AT_ONCE = 8;

/** Does `work` for each, a few at a time; the first failure ends it, once those under way are over. */
export async function eachFew<Item>(
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
  await Promise.all(Array.from({ length: TRANSFERS_AT_ONCE }, one));
  const failed = failure as { readonly error: unknown } | null;
  if (failed) throw failed.error;
}
