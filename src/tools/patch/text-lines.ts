/** How a line ends; only the last one of a text may end without a newline. */
export type LineEnding = "\n" | "\r\n" | "";

/** One line of a text, told apart from its ending. */
export interface TextLine {
  readonly text: string;
  readonly ending: LineEnding;
}

/** Splits at `\n` and `\r\n` and nowhere else, so that `joinLines` gives back the same text. */
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

/** Joins lines; one without a newline that is no longer the last gets its neighbour's. */
export function joinLines(lines: readonly TextLine[]): string {
  const last = lines.length - 1;
  return lines
    .map(({ text, ending }, index) =>
      index < last ? text + (ending || endingAt(lines, index, "\n")) : text + ending,
    )
    .join("");
}

/** How a line put before `lines[index]` ends: like the one above it, else like the one below. */
export function endingAt(
  lines: readonly TextLine[],
  index: number,
  otherwise: LineEnding,
): LineEnding {
  const above = lines[index - 1]?.ending || lines[index - 2]?.ending; // the last may have none
  return above || lines[index]?.ending || otherwise;
}
