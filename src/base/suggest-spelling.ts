/**
 * Returns the name that `name` is most likely a misspelling of, or `null` if none is similar. Case,
 * `_` and `-` only decide between names that are equally similar without them.
 */
export function suggestSpelling(name: string, names: Iterable<string>): string | null {
  const plain = toPlainText(name);
  let best: string | null = null;
  let least = [Math.max(1, Math.floor(name.length / 3)), Number.POSITIVE_INFINITY] as const;
  for (const candidate of names) {
    const other = toPlainText(candidate);
    if (Math.abs(other.length - plain.length) > least[0]) continue;
    const distance = editDistance(plain, other);
    if (distance > least[0]) continue;
    const exactDistance = editDistance(name, candidate);
    if (distance === least[0] && exactDistance >= least[1]) continue;
    [best, least] = [candidate, [distance, exactDistance]];
  }
  return best;
}

function toPlainText(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

/** Counts inserted, missing, wrong and swapped letters. */
function editDistance(from: string, to: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const wrong = readCell(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? readCell(before, j - 2) + 1 : wrong;
      next.push(Math.min(wrong, swapped, readCell(row, j) + 1, readCell(next, j - 1) + 1));
    }
    [before, row] = [row, next];
  }
  return readCell(row, to.length);
}

/** Reads a cell of the table, which has one for every position. */
function readCell(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
