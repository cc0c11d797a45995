import {
  ambiguous,
  anchorAbsent,
  hunkAbsent,
  outOfOrder,
  type SoughtHunk,
} from "./hunk-refusals.ts";
import { type LineView, lineViews } from "./line-views.ts";
import type { PatchError } from "./patch-error.ts";
import type { Hunk } from "./v4a-hunks.ts";

/** Where a hunk goes: the lines that it keeps or removes stand in the file from `at` on. */
export interface PlacedHunk {
  readonly hunk: Hunk;
  readonly at: number;
}

/**
 * Finds the one place for every hunk, from top to bottom. Hunks follow each other in the file as in
 * the patch, save that one that only adds and has no anchor goes to the end, wherever it stands.
 */
export function placeHunks(
  lines: readonly string[],
  hunks: readonly Hunk[],
  path: string,
): PlacedHunk[] {
  const file: Searched = { lines, views: lineViews(lines) };
  const found: FoundHunk[] = [];
  let cursor = 0;
  for (const [index, hunk] of hunks.entries()) {
    const old = hunk.lines.filter(({ kind }) => kind !== "add");
    const sought = { hunk, old, path, number: index + 1 };
    const places = isAppended(sought) ? [lines.length] : placesFor(sought, file, cursor);
    const [at] = places;
    if (at === undefined) throw misplaced(sought, file, cursor);
    found.push({ ...sought, at, places });
    if (!isAppended(sought)) cursor = at + old.length;
  }
  checkUnique(found);
  return found.toSorted((one, other) => one.at - other.at);
}

interface Searched {
  readonly lines: readonly string[];
  readonly views: Iterable<LineView>;
}

interface FoundHunk extends SoughtHunk, PlacedHunk {
  /** In ascending order; the first is `at`. */
  readonly places: readonly number[];
}

function isAppended({ hunk, old }: SoughtHunk): boolean {
  return old.length === 0 && hunk.anchors.length === 0;
}

/** Every place from `cursor` on that may be meant, as the strictest view that has any sees it. */
function placesFor(sought: SoughtHunk, file: Searched, cursor: number): number[] {
  const { hunk, old } = sought;
  const starts = startsFor(sought, file);
  if (old.length === 0 && !hunk.atEnd) return starts.filter((start) => start >= cursor);
  const froms = starts.map((start) => Math.max(start, cursor));
  for (const { lines, read } of file.views) {
    const wanted = old.map(({ text }) => read(text));
    const all = hunk.atEnd ? lastPlace(lines, wanted) : allPlaces(lines, wanted);
    const isAnchored = hunk.anchors.length > 0;
    const places = isAnchored ? firstsFrom(all, froms) : all.filter((at) => at >= cursor);
    if (places.length > 0) return places;
  }
  return [];
}

/** The lines right below the anchors, wherever the outermost of them stands. */
function startsFor(sought: SoughtHunk, file: Searched): number[] {
  let starts = [0];
  for (const [depth, anchor] of sought.hunk.anchors.entries()) {
    let found: number[] = [];
    for (const { lines, read } of file.views) {
      const all = allPlaces(lines, [read(anchor.text)]);
      found = depth === 0 ? all : firstsFrom(all, starts);
      if (found.length > 0) break;
    }
    const [from = 0] = starts;
    if (found.length === 0) throw anchorAbsent(anchor, sought, { file: file.lines, from });
    starts = found.map((at) => at + 1);
  }
  return starts;
}

function lastPlace(lines: readonly string[], wanted: readonly string[]): number[] {
  const at = lines.length - wanted.length;
  return at >= 0 && standsAt(lines, wanted, at) ? [at] : [];
}

function allPlaces(lines: readonly string[], wanted: readonly string[]): number[] {
  const places: number[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at++) {
    if (standsAt(lines, wanted, at)) places.push(at);
  }
  return places;
}

function standsAt(lines: readonly string[], wanted: readonly string[], at: number): boolean {
  return wanted.every((text, index) => text === lines[at + index]);
}

/** For each of `froms` the first place that is not before it; all are in ascending order. */
function firstsFrom(places: readonly number[], froms: readonly number[]): number[] {
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

function misplaced(sought: SoughtHunk, file: Searched, cursor: number): PatchError {
  const [above] = placesFor(sought, file, 0);
  if (above !== undefined) return outOfOrder(sought, above);
  const [start = 0] = startsFor(sought, file);
  return hunkAbsent(sought, file.lines, Math.max(start, cursor));
}

/** Each hunk is at its first place; refuses if one could as well be further down. */
function checkUnique(found: readonly FoundHunk[]): void {
  let doubt: PatchError | null = null;
  let limit = Infinity;
  for (const hunk of found.toReversed()) {
    if (isAppended(hunk)) continue;
    const possible = hunk.places.filter((at) => at + hunk.old.length <= limit);
    if (possible.length > 1) doubt = ambiguous(hunk, possible);
    limit = possible.at(-1) ?? limit;
  }
  if (doubt) throw doubt;
}
