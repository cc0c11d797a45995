/** Picks `count` different items. The same seed always picks the same items. */
export function pickAtRandom<Item>(
  items: readonly Item[],
  count: number,
  seed: number,
): readonly Item[] {
  const next = createRandom(seed);
  const rest = [...items];
  const picked: Item[] = [];
  while (picked.length < count && rest.length > 0) {
    picked.push(...rest.splice(Math.floor(next() * rest.length), 1));
  }
  return picked;
}

/** A generator of numbers from 0 up to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
