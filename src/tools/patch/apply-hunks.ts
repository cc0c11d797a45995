import type { Hunk } from "./parse-hunks.ts";
import { PatchError } from "./patch-error.ts";
import { type PlacedHunk, placeHunks } from "./place-hunks.ts";
import {
  findLineEnding,
  joinLines,
  type LineEnding,
  splitLines,
  type TextLine,
} from "./text-lines.ts";

const BYTE_ORDER_MARK = "\ufeff";

/**
 * Returns `text` with all hunks applied. Lines that no hunk removes keep their spaces and endings.
 * A new line always ends with a newline, of the same kind as its neighbors'. Throws `PatchError`.
 */
export function applyHunks(text: string, hunks: readonly Hunk[], path: string): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const lines = splitLines(text.slice(mark.length));
  const texts = lines.map((line) => line.text);
  const result = mark + joinLines(replaceLines(lines, placeHunks(texts, hunks, path)));
  if (result !== text) return result;
  const remedy = "omit it, or write the lines that should change";
  throw new PatchError({ path, problem: "the hunks change nothing", remedy });
}

function replaceLines(lines: readonly TextLine[], placed: readonly PlacedHunk[]): TextLine[] {
  const parts: (readonly TextLine[])[] = [];
  let next = 0;
  for (const { hunk, at } of placed) {
    parts.push(lines.slice(next, at), applyHunkAt(at, hunk, lines));
    next = at + hunk.lines.filter(({ kind }) => kind !== "add").length;
  }
  parts.push(lines.slice(next));
  return parts.flat();
}

function applyHunkAt(at: number, hunk: Hunk, lines: readonly TextLine[]): TextLine[] {
  const result: TextLine[] = [];
  let removed: LineEnding[] = [];
  let next = at;
  for (const { kind, text, ending } of hunk.lines) {
    const line = kind === "add" ? undefined : lines[next++];
    if (line === undefined) {
      // Use the ending of the replaced line, else the neighbors', else the patch's own.
      const own = removed.shift() || findLineEnding(lines, next, ending || "\n");
      result.push({ text, ending: own });
    } else if (kind === "remove") removed.push(line.ending);
    else {
      removed = [];
      result.push(line);
    }
  }
  return result;
}
