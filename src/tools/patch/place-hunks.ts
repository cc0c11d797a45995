import { ComparisonBudget } from "./comparison-budget.ts";
import {
  ambiguousHunkError,
  anchorNotFoundError,
  type HunkSearch,
  hunkNotFoundError,
  hunkOutOfOrderError,
} from "./hunk-errors.ts";
import { type LineComparison, lineComparisons } from "./line-comparisons.ts";
import type { Hunk } from "./parse-hunks.ts";
import type { PatchError } from "./patch-error.ts";

/** A hunk and its place: the index of the line where its kept and removed lines start. */
export interface PlacedHunk {
  readonly hunk: Hunk;
  readonly at: number;
}

/**
 * Finds the only possible place of each hunk, from top to bottom. Hunks must be in file order,
 * except that a hunk that only adds lines and has no anchor is always appended to the file.
 */
export function placeHunks(
  lines: readonly string[],
  hunks: readonly Hunk[],
  path: string,
): PlacedHunk[] {
  const budget = new ComparisonBudget(path);
  const file: SearchedFile = { lines, comparisons: lineComparisons(lines, budget), budget };
  const found: FoundHunk[] = [];
  let cursor = 0;
  for (const [index, hunk] of hunks.entries()) {
    const oldLines = hunk.lines.filter(({ kind }) => kind !== "add");
    const search = { hunk, oldLines, path, number: index + 1 };
    const places = isAppended(search) ? [lines.length] : findPlaces(search, file, cursor);
    const [at] = places;
    if (at === undefined) throw createPlacementError(search, file, cursor);
    found.push({ ...search, at, places });
    if (!isAppended(search)) cursor = at + oldLines.length;
  }
  checkUnique(found, budget);
  return found.toSorted((one, other) => one.at - other.at);
}

interface SearchedFile {
  readonly lines: readonly string[];
  readonly comparisons: Iterable<LineComparison>;
  readonly budget: ComparisonBudget;
}

interface FoundHunk extends HunkSearch, PlacedHunk {
  /** All possible places in ascending order; the first is `at`. */
  readonly places: readonly number[];
}

function isAppended({ hunk, oldLines }: HunkSearch): boolean {
  return oldLines.length === 0 && hunk.anchors.length === 0;
}

/** Finds every possible place from `cursor` on, using the strictest comparison that has a match. */
function findPlaces(search: HunkSearch, file: SearchedFile, cursor: number): number[] {
  const { hunk, oldLines } = search;
  const starts = findAnchorEnds(search, file);
  if (oldLines.length === 0 && !hunk.atEnd) return starts.filter((start) => start >= cursor);
  const froms = starts.map((start) => Math.max(start, cursor));
  for (const lines of file.comparisons) {
    const wanted = oldLines.map(({ text }) => lines.normalize(text));
    const all = hunk.atEnd ? lines.findLastPlace(wanted) : lines.findAllPlaces(wanted);
    const isAnchored = hunk.anchors.length > 0;
    const places = isAnchored ? pickFirstPlaces(all, froms) : all.filter((at) => at >= cursor);
    if (places.length > 0) return places;
  }
  return [];
}

/**
 * Returns the indexes of the lines just below the anchors. The outermost anchor may match anywhere
 * in the file.
 */
function findAnchorEnds(search: HunkSearch, file: SearchedFile): number[] {
  let starts = [0];
  for (const [depth, anchor] of search.hunk.anchors.entries()) {
    let found: number[] = [];
    for (const lines of file.comparisons) {
      const all = lines.findAllPlaces([lines.normalize(anchor.text)]);
      file.budget.spend(starts.length);
      found = depth === 0 ? all : pickFirstPlaces(all, starts);
      if (found.length > 0) break;
    }
    const [from = 0] = starts;
    if (found.length === 0) throw anchorNotFoundError(anchor, search, { file: file.lines, from });
    starts = found.map((at) => at + 1);
  }
  return starts;
}

/**
 * For each index in `froms`, finds the first place at or after it. Both arrays are in ascending
 * order.
 */
function pickFirstPlaces(places: readonly number[], froms: readonly number[]): number[] {
  const firsts = new Set<number>();
  let index = 0;
  for (const from of froms) {
    while ((places[index] ?? Infinity) < from) index++;
    const place = places[index];
    if (place === undefined) break;
    firsts.add(place);
  }
  return [...firsts];
}

function createPlacementError(search: HunkSearch, file: SearchedFile, cursor: number): PatchError {
  const [above] = findPlaces(search, file, 0);
  if (above !== undefined) return hunkOutOfOrderError(search, above);
  const [start = 0] = findAnchorEnds(search, file);
  return hunkNotFoundError(search, file.lines, Math.max(start, cursor));
}

/**
 * Rejects a hunk that could also be placed further down. Each hunk is at its first possible place.
 */
function checkUnique(found: readonly FoundHunk[], budget: ComparisonBudget): void {
  let ambiguity: PatchError | null = null;
  let limit = Infinity;
  for (const hunk of found.toReversed()) {
    if (isAppended(hunk)) continue;
    budget.spend(hunk.places.length);
    const possible = hunk.places.filter((at) => at + hunk.oldLines.length <= limit);
    if (possible.length > 1) ambiguity = ambiguousHunkError(hunk, possible);
    limit = possible.at(-1) ?? limit;
  }
  if (ambiguity) throw ambiguity;
}
