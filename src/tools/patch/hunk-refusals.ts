import { show } from "../../base/show.ts";
import { readLoosely } from "./line-views.ts";
import { PatchError } from "./patch-error.ts";
import type { Anchor, Hunk, HunkLine } from "./v4a-hunks.ts";

/** A hunk whose place is looked for. */
export interface SoughtHunk {
  readonly hunk: Hunk;
  /** Counted from 1. */
  readonly number: number;
  readonly path: string;
  /** What it keeps or removes: what the file must have. */
  readonly old: readonly HunkLine[];
}

/** Says where the file first differs from the hunk, at the likeliest place from `from` on. */
export function hunkAbsent(sought: SoughtHunk, file: readonly string[], from: number): PatchError {
  const lines = file.map(readLoosely);
  const old = sought.old.map(({ text }) => readLoosely(text));
  const { atEnd } = sought.hunk;
  const at = atEnd ? Math.max(from, lines.length - old.length) : likeliestPlace(lines, old, from);
  const offset = at === null ? 0 : old.findIndex((text, index) => text !== lines[at + index]);
  const { text: expected, number } = sought.old[offset] ?? { text: "", number: null };
  const remedy = "read the file again and repeat its lines exactly";
  const below = from > 0 ? ` below line ${from}` : "";
  return refusal(sought, {
    line: number,
    problem:
      at === null
        ? `expected ${show(expected)}, and no line of the file${below} is like it`
        : divergence(expected, file, at + offset),
    remedy: atEnd ? `${remedy}, or leave "*** End of File" out` : remedy,
  });
}

/** Says that the hunk stands above the one before it. */
export function outOfOrder(sought: SoughtHunk, place: number): PatchError {
  return refusal(sought, {
    line: firstLine(sought),
    problem: `fits at line ${place + 1} of the file, which is not below the hunk before it`,
    remedy: "put hunks in the order of the file, and let them share no lines",
  });
}

/** Says where else the hunk might go. */
export function ambiguous(sought: SoughtHunk, places: readonly number[]): PatchError {
  const [one = 0, other = 0, ...more] = places.map((at) => at + 1);
  const others = more.length > 0 ? `, ${other} and ${more.length} more` : ` and ${other}`;
  return refusal(sought, {
    line: firstLine(sought),
    problem: `fits at lines ${one}${others} of the file`,
    remedy: 'add the lines around it, or "@@ " and a line above it that no other is like',
  });
}

/** Says that no line from `from` on reads like the anchor, and which one starts like it. */
export function anchorAbsent(
  anchor: Anchor,
  sought: SoughtHunk,
  { file, from }: { readonly file: readonly string[]; readonly from: number },
): PatchError {
  const start = readLoosely(anchor.text);
  const near = file.findIndex((text, at) => at >= from && readLoosely(text).startsWith(start));
  const below = from > 0 ? ` below line ${from}` : "";
  return refusal(sought, {
    line: anchor.number,
    problem: `the file has no line ${show(anchor.text)}${below}`,
    remedy:
      near < 0
        ? 'repeat a whole line of the file after "@@ "'
        : `repeat the whole of line ${near + 1} after "@@ ", ${show(file[near])}`,
  });
}

function refusal(
  { path, number }: SoughtHunk,
  details: { readonly line: number | null; readonly problem: string; readonly remedy: string },
): PatchError {
  return new PatchError({ path, hunk: number, ...details });
}

/** Where most lines are as the hunk has them, or `null` if none is. */
function likeliestPlace(
  lines: readonly string[],
  old: readonly string[],
  from: number,
): number | null {
  let best: number | null = null;
  let most = 0;
  for (let at = from; at < lines.length; at++) {
    const alike = old.filter((text, index) => text === lines[at + index]).length;
    if (alike > most) [best, most] = [at, alike];
  }
  return best;
}

function divergence(expected: string, file: readonly string[], at: number): string {
  const actual = file[at];
  if (actual === undefined) {
    return `expected ${show(expected)}, but the file ends after line ${file.length}`;
  }
  // A long line is quoted from shortly before the difference, which else would be cut off.
  let same = 0;
  while (same < expected.length && expected[same] === actual[same]) same++;
  const quoted = (text: string) => show(same > 60 ? `…${text.slice(same - 20)}` : text);
  return `expected ${quoted(expected)}, but line ${at + 1} of the file is ${quoted(actual)}`;
}

function firstLine({ hunk, old }: SoughtHunk): number | null {
  return (old[0] ?? hunk.lines[0])?.number ?? null;
}
