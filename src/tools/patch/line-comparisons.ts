/** The lines of a file, normalized for one way of comparing them. */
export interface LineComparison {
  readonly lines: readonly string[];
  readonly normalize: (text: string) => string;
}

/**
 * Yields a file's lines for increasingly loose comparisons: exact, without trailing spaces, without
 * surrounding spaces, and with ASCII instead of typographic punctuation, which models cannot
 * always reproduce.
 */
export function lineComparisons(lines: readonly string[]): Iterable<LineComparison> {
  const cache: LineComparison[] = [];
  return {
    *[Symbol.iterator]() {
      for (const [index, normalize] of normalizers.entries()) {
        cache[index] ??= { normalize, lines: lines.map(normalize) };
        yield cache[index];
      }
    },
  };
}

/** Normalizes a line for the loosest comparison. */
export function normalizeLoosely(text: string): string {
  return text
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/\p{Zs}/gu, " ")
    .trim();
}

const normalizers: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.trimEnd(),
  (text) => text.trim(),
  normalizeLoosely,
];
