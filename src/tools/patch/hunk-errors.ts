import { quoteValue } from "../../base/quote-value.ts";
import { normalizeLoosely } from "./line-comparisons.ts";
import type { Anchor, Hunk, HunkLine } from "./parse-hunks.ts";
import { PatchError } from "./patch-error.ts";

/** A hunk whose place in the file is being searched for. */
export interface HunkSearch {
  readonly hunk: Hunk;
  /** Number of the hunk, from 1. */
  readonly number: number;
  /** Path of the file. */
  readonly path: string;
  /** Lines that the hunk keeps or removes, which the file must contain. */
  readonly oldLines: readonly HunkLine[];
}

/**
 * Reports the first line that differs from the hunk, at its likeliest place at or after line
 * `from`.
 */
export function hunkNotFoundError(
  search: HunkSearch,
  file: readonly string[],
  from: number,
): PatchError {
  const lines = file.map(normalizeLoosely);
  const old = search.oldLines.map(({ text }) => normalizeLoosely(text));
  const { atEnd } = search.hunk;
  const at = atEnd
    ? Math.max(from, lines.length - old.length)
    : findLikeliestPlace(lines, old, from);
  const offset = at === null ? 0 : old.findIndex((text, index) => text !== lines[at + index]);
  const { text: expected, number } = search.oldLines[offset] ?? { text: "", number: null };
  const remedy = "read the file again and repeat its lines exactly";
  const below = from > 0 ? ` below line ${from}` : "";
  return createHunkError(search, {
    line: number,
    problem:
      at === null
        ? `expected ${quoteValue(expected)}, but no line of the file${below} matches it`
        : describeDifference(expected, file, at + offset),
    remedy: atEnd ? `${remedy}, or omit "*** End of File"` : remedy,
  });
}

/** Reports that the hunk's place is above that of the previous hunk. */
export function hunkOutOfOrderError(search: HunkSearch, place: number): PatchError {
  return createHunkError(search, {
    line: getFirstLine(search),
    problem: `matches at line ${place + 1} of the file, which is not below the previous hunk`,
    remedy: "put hunks in file order, without shared lines",
  });
}

/** Reports all places where the hunk could go. */
export function ambiguousHunkError(search: HunkSearch, places: readonly number[]): PatchError {
  const [one = 0, other = 0, ...more] = places.map((at) => at + 1);
  const others = more.length > 0 ? `, ${other} and ${more.length} more` : ` and ${other}`;
  return createHunkError(search, {
    line: getFirstLine(search),
    problem: `matches at lines ${one}${others} of the file`,
    remedy: 'add surrounding lines, or "@@ " and a unique line above it',
  });
}

/**
 * Reports that no line at or after `from` matches the anchor, and suggests a line that starts like
 * it.
 */
export function anchorNotFoundError(
  anchor: Anchor,
  search: HunkSearch,
  { file, from }: { readonly file: readonly string[]; readonly from: number },
): PatchError {
  const start = normalizeLoosely(anchor.text);
  const near = file.findIndex((text, at) => at >= from && normalizeLoosely(text).startsWith(start));
  const below = from > 0 ? ` below line ${from}` : "";
  return createHunkError(search, {
    line: anchor.number,
    problem: `the file has no line ${quoteValue(anchor.text)}${below}`,
    remedy:
      near < 0
        ? 'repeat a whole line of the file after "@@ "'
        : `repeat all of line ${near + 1} after "@@ ": ${quoteValue(file[near])}`,
  });
}

const MAX_COMPARISONS = 5_000_000;

function createHunkError(
  { path, number }: HunkSearch,
  details: { readonly line: number | null; readonly problem: string; readonly remedy: string },
): PatchError {
  return new PatchError({ path, hunk: number, ...details });
}

/**
 * Returns the place with the most matching lines, or `null` if no line matches. Compares only the first lines of a
 * hunk that is too long for the file.
 */
function findLikeliestPlace(
  lines: readonly string[],
  all: readonly string[],
  from: number,
): number | null {
  const old = all.slice(0, Math.ceil(MAX_COMPARISONS / lines.length));
  let best: number | null = null;
  let most = 0;
  for (let at = from; at < lines.length; at++) {
    const alike = old.filter((text, index) => text === lines[at + index]).length;
    if (alike > most) [best, most] = [at, alike];
  }
  return best;
}

function describeDifference(expected: string, file: readonly string[], at: number): string {
  const actual = file[at];
  if (actual === undefined) {
    return `expected ${quoteValue(expected)}, but the file ends after line ${file.length}`;
  }
  // Quote a long line from shortly before the difference, so that the quote includes it.
  let same = 0;
  while (same < expected.length && expected[same] === actual[same]) same++;
  const quote = (text: string) => quoteValue(same > 60 ? `…${text.slice(same - 20)}` : text);
  return `expected ${quote(expected)}, but line ${at + 1} of the file is ${quote(actual)}`;
}

function getFirstLine({ hunk, oldLines }: HunkSearch): number | null {
  return (oldLines[0] ?? hunk.lines[0])?.number ?? null;
}
