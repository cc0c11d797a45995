import type { ComparisonBudget } from "./comparison-budget.ts";

/** The lines of a file, normalized for one way of comparing them. */
export class LineComparison {
  readonly normalize: (text: string) => string;
  readonly lines: readonly string[];
  readonly #budget: ComparisonBudget;
  /** The indexes of each different line, ascending. Created on the first search. */
  #places: ReadonlyMap<string, readonly number[]> | null = null;

  constructor(
    lines: readonly string[],
    normalize: (text: string) => string,
    budget: ComparisonBudget,
  ) {
    this.normalize = normalize;
    this.lines = lines.map(normalize);
    this.#budget = budget;
  }

  /** Finds every place of consecutive lines, ascending. `wanted` must be normalized. Throws `PatchError`. */
  findAllPlaces(wanted: readonly string[]): number[] {
    const { offset, places } = this.#findRarest(wanted);
    const last = this.lines.length - wanted.length;
    const found: number[] = [];
    for (const place of places) {
      const at = place - offset;
      this.#budget.spend(1);
      if (at >= 0 && at <= last && this.#matchesAt(wanted, at)) found.push(at);
    }
    return found;
  }

  /** Returns the place of lines at the end of the file, if they are there. */
  findLastPlace(wanted: readonly string[]): number[] {
    const at = this.lines.length - wanted.length;
    return at >= 0 && this.#matchesAt(wanted, at) ? [at] : [];
  }

  #matchesAt(wanted: readonly string[], at: number): boolean {
    let index = 0;
    while (index < wanted.length && wanted[index] === this.lines[at + index]) index++;
    this.#budget.spend(index);
    return index === wanted.length;
  }

  /** Returns the line of `wanted` that occurs least often in the file: the others need not be searched for. */
  #findRarest(wanted: readonly string[]): { offset: number; places: readonly number[] } {
    this.#places ??= groupLines(this.lines);
    let rarest = { offset: 0, places: this.#places.get(wanted[0] ?? "") ?? [] };
    for (const [offset, text] of wanted.entries()) {
      const places = this.#places.get(text) ?? [];
      if (places.length < rarest.places.length) rarest = { offset, places };
    }
    return rarest;
  }
}

/**
 * Yields a file's lines for increasingly loose comparisons: exact, without trailing spaces, without
 * surrounding spaces, and with ASCII instead of typographic punctuation, which models cannot
 * always reproduce.
 */
export function lineComparisons(
  lines: readonly string[],
  budget: ComparisonBudget,
): Iterable<LineComparison> {
  const cache: LineComparison[] = [];
  return {
    *[Symbol.iterator]() {
      for (const [index, normalize] of normalizers.entries()) {
        cache[index] ??= new LineComparison(lines, normalize, budget);
        yield cache[index];
      }
    },
  };
}

function groupLines(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const known = places.get(line);
    if (known) known.push(index);
    else places.set(line, [index]);
  }
  return places;
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
