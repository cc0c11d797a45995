import type { Hunk } from "./parse-hunks.ts";
import { PatchError } from "./patch-error.ts";
import { type PlacedHunk, placeHunks } from "./place-hunks.ts";
import {
  findCommonEnding,
  joinLines,
  type LineEnding,
  splitLines,
  type TextLine,
} from "./text-lines.ts";

const BYTE_ORDER_MARK = "\ufeff";

/**
 * Returns `text` with all hunks applied. Lines that no hunk removes keep their spaces and endings. A new
 * line always has an ending: the one that the file uses most, the first of them if several are equally
 * common, and the patch's own if the file has none. Throws `PatchError`.
 */
export function applyHunks(text: string, hunks: readonly Hunk[], path: string): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const lines = splitLines(text.slice(mark.length));
  const texts = lines.map((line) => line.text);
  const placed = placeHunks(texts, hunks, path);
  const common = findCommonEnding(lines);
  const result = mark + joinLines(replaceLines(lines, placed, common), common ?? "\n");
  if (result !== text) return result;
  const remedy = "omit it, or write the lines that should change";
  throw new PatchError({ path, problem: "the hunks change nothing", remedy });
}

function replaceLines(
  lines: readonly TextLine[],
  placed: readonly PlacedHunk[],
  common: LineEnding | null,
): TextLine[] {
  const parts: (readonly TextLine[])[] = [];
  const added = new Set<TextLine>();
  let next = 0;
  for (const { hunk, at } of placed) {
    parts.push(lines.slice(next, at));
    next = at;
    for (const { kind, text, ending } of hunk.lines) {
      const line = kind === "add" ? undefined : lines[next++];
      if (line === undefined) {
        const own = { text, ending: common ?? (ending || "\n") };
        added.add(own);
        parts.push([own]);
      } else if (kind === "keep") parts.push([line]);
    }
  }
  parts.push(lines.slice(next));
  const all = parts.flat();
  return all.map((line, index) =>
    added.has(line) ? keepApart(line, all[index - 1], all[index + 1]) : line,
  );
}

/** Changes the ending of a new line that would form one CRLF with the line above or below. */
function keepApart(
  { text, ending }: TextLine,
  above: TextLine | undefined,
  below: TextLine | undefined,
): TextLine {
  const joinsAbove = above?.ending === "\r" && text === "" && ending === "\n";
  const joinsBelow = ending === "\r" && below?.text === "" && below.ending === "\n";
  return { text, ending: joinsAbove || joinsBelow ? "\r\n" : ending };
}
