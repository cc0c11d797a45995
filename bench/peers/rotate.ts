/** The clients in the order of a round: each round starts with another one. */
export function rotate<T>(clients: readonly T[], round: number): readonly T[] {
  const first = round % clients.length;
  return [...clients.slice(first), ...clients.slice(0, first)];
}
