/**
 * Returns a copy of the record with the keys of `order` first, in that order. Error messages list keys in
 * record order.
 */
export function orderKeys<Value>(
  record: Readonly<Record<string, Value>>,
  order: readonly string[],
): Readonly<Record<string, Value>> {
  const first = new Map(order.map((key, place) => [key, place]));
  const getRank = (key: string) => first.get(key) ?? order.length;
  const entries = Object.entries(record);
  return Object.fromEntries(entries.toSorted(([a], [b]) => getRank(a) - getRank(b)));
}
