/** Returns the same record with the keys of `order` first, in that order. Errors list keys in the record's order. */
export function orderKeys<Value>(
  record: Readonly<Record<string, Value>>,
  order: readonly string[],
): Readonly<Record<string, Value>> {
  const first = new Map(order.map((key, place) => [key, place]));
  const placeOf = (key: string) => first.get(key) ?? order.length;
  const entries = Object.entries(record);
  return Object.fromEntries(entries.toSorted(([a], [b]) => placeOf(a) - placeOf(b)));
}
