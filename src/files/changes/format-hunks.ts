import type { LineEdit } from "./diff-lines.ts";

/** The lines of a text before and after its edits. Each line includes its line ending. */
export interface EditedLines {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly edits: readonly LineEdit[];
}

/** The number of unchanged lines around an edit. */
const CONTEXT = 3;

/** Formats edits as hunks of a unified diff. */
export function formatHunks(lines: EditedLines): string {
  return groupEdits(lines.edits)
    .map((edits) => formatHunk(edits, lines))
    .join("");
}

/** Splits text into lines that include their line feed. Only a line feed ends a line, as in Git. */
export function splitLines(text: string): readonly string[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  const complete = lines.map((line) => `${line}\n`);
  return last === "" ? complete : [...complete, last];
}

/** Groups edits whose context would overlap or touch. */
function groupEdits(edits: readonly LineEdit[]): readonly (readonly LineEdit[])[] {
  const groups: LineEdit[][] = [];
  for (const edit of edits) {
    const last = groups.at(-1)?.at(-1);
    const isNear = last && edit.oldStart - (last.oldStart + last.oldCount) <= 2 * CONTEXT;
    if (isNear) groups.at(-1)?.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

function formatHunk(edits: readonly LineEdit[], { before, after }: EditedLines): string {
  const [first, last] = [edits[0], edits.at(-1)];
  if (!first || !last) return "";
  const context = Math.min(CONTEXT, first.oldStart);
  const [oldStart, newStart] = [first.oldStart - context, first.newStart - context];
  const oldEnd = Math.min(before.length, last.oldStart + last.oldCount + CONTEXT);
  const newEnd = oldEnd + (last.newStart + last.newCount) - (last.oldStart + last.oldCount);
  let text = `@@ -${formatRange(oldStart, oldEnd)} +${formatRange(newStart, newEnd)} @@\n`;
  let at = oldStart;
  for (const edit of edits) {
    text += formatLines(" ", before.slice(at, edit.oldStart));
    text += formatLines("-", before.slice(edit.oldStart, edit.oldStart + edit.oldCount));
    text += formatLines("+", after.slice(edit.newStart, edit.newStart + edit.newCount));
    at = edit.oldStart + edit.oldCount;
  }
  return text + formatLines(" ", before.slice(at, oldEnd));
}

/** Formats a range of lines. An empty range has the number of the line before it. */
function formatRange(start: number, end: number): string {
  const count = end - start;
  const line = count === 0 ? start : start + 1;
  return count === 1 ? `${line}` : `${line},${count}`;
}

function formatLines(sign: " " | "-" | "+", lines: readonly string[]): string {
  return lines
    .map((line) => (line.endsWith("\n") ? sign + line : `${sign}${line}\n${NO_LINE_FEED}`))
    .join("");
}

const NO_LINE_FEED = "\\ No newline at end of file\n";
