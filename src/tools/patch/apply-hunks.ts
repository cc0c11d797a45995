import { PatchError } from "./patch-error.ts";
import { type PlacedHunk, placeHunks } from "./place-hunks.ts";
import { endingAt, joinLines, type LineEnding, splitLines, type TextLine } from "./text-lines.ts";
import type { Hunk } from "./v4a-hunks.ts";

const BYTE_ORDER_MARK = "\ufeff";

/**
 * The text after all hunks. Lines that no hunk removes stay as they are, spaces and endings
 * included; a new line ends as its neighbours do, and always with a newline. Throws `PatchError`.
 */
export function applyHunks(text: string, hunks: readonly Hunk[], path: string): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const lines = splitLines(text.slice(mark.length));
  const texts = lines.map((line) => line.text);
  const result = mark + joinLines(changed(lines, placeHunks(texts, hunks, path)));
  if (result !== text) return result;
  const remedy = "leave it out, or write what is to be different";
  throw new PatchError({ path, problem: "the hunks change nothing", remedy });
}

function changed(lines: readonly TextLine[], placed: readonly PlacedHunk[]): TextLine[] {
  const parts: (readonly TextLine[])[] = [];
  let next = 0;
  for (const { hunk, at } of placed) {
    parts.push(lines.slice(next, at), changedAt(at, hunk, lines));
    next = at + hunk.lines.filter(({ kind }) => kind !== "add").length;
  }
  parts.push(lines.slice(next));
  return parts.flat();
}

function changedAt(at: number, hunk: Hunk, lines: readonly TextLine[]): TextLine[] {
  const result: TextLine[] = [];
  let removed: LineEnding[] = [];
  let next = at;
  for (const { kind, text, ending } of hunk.lines) {
    const line = kind === "add" ? undefined : lines[next++];
    if (line === undefined) {
      // As the line in whose place it comes, else as its neighbours, else as the patch has it.
      const own = removed.shift() || endingAt(lines, next, ending || "\n");
      result.push({ text, ending: own });
    } else if (kind === "remove") removed.push(line.ending);
    else {
      removed = [];
      result.push(line);
    }
  }
  return result;
}
