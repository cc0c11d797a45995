/** Line ending. Only the last line of a text may have none. */
export type LineEnding = "\n" | "\r\n" | "";

/** One line of a text, without its ending. */
export interface TextLine {
  readonly text: string;
  readonly ending: LineEnding;
}

/**
 * Splits a text at `
 * ` and `\r
 * ` only, so that `joinLines` returns the same text.
 */
export function splitLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf("\n", start);
    if (newline < 0) {
      lines.push({ text: text.slice(start), ending: "" });
      break;
    }
    const isCrlf = newline > start && text[newline - 1] === "\r";
    const end = isCrlf ? newline - 1 : newline;
    lines.push({ text: text.slice(start, end), ending: isCrlf ? "\r\n" : "\n" });
    start = newline + 1;
  }
  return lines;
}

/**
 * Joins lines. A line without an ending that is no longer the last gets the ending of its neighbor.
 */
export function joinLines(lines: readonly TextLine[]): string {
  const last = lines.length - 1;
  return lines
    .map(({ text, ending }, index) =>
      index < last ? text + (ending || findLineEnding(lines, index, "\n")) : text + ending,
    )
    .join("");
}

/**
 * Returns the ending for a line inserted before `lines[index]`: that of the line above, else of the
 * line below, else `otherwise`.
 */
export function findLineEnding(
  lines: readonly TextLine[],
  index: number,
  fallback: LineEnding,
): LineEnding {
  const above = lines[index - 1]?.ending || lines[index - 2]?.ending; // the last line may have none
  return above || lines[index]?.ending || fallback;
}
