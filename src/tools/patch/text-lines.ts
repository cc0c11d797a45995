/** Line ending. Only the last line of a text may have none. */
export type LineEnding = "\n" | "\r\n" | "\r" | "";

/** One line of a text, without its ending. */
export interface TextLine {
  readonly text: string;
  readonly ending: LineEnding;
}

/** Splits a text after every `\n`, `\r\n` and lone `\r`, so that `joinLines` returns the same text. */
export function splitLines(text: string): TextLine[] {
  return splitAt(text, /\r\n|\r|\n/g);
}

/**
 * Splits a patch into its lines. A lone `\r` ends a line only if the patch has no other ending; otherwise
 * it belongs to the text of the patched file.
 */
export function splitPatchLines(patch: string): TextLine[] {
  return patch.includes("\n") ? splitAt(patch, /\r?\n/g) : splitLines(patch);
}

/** Joins lines. A line without an ending that is no longer the last gets `ending`. */
export function joinLines(lines: readonly TextLine[], ending: LineEnding = "\n"): string {
  const last = lines.length - 1;
  return lines
    .map((line, index) => line.text + (line.ending || (index < last ? ending : "")))
    .join("");
}

/** Returns the most common ending, the first one if several are equally common, or `null` if there is none. */
export function findCommonEnding(lines: readonly TextLine[]): LineEnding | null {
  const counts = new Map<LineEnding, number>();
  for (const { ending } of lines) counts.set(ending, (counts.get(ending) ?? 0) + 1);
  counts.delete("");
  let common: LineEnding | null = null;
  for (const [ending, count] of counts) {
    if (common === null || count > (counts.get(common) ?? 0)) common = ending;
  }
  return common;
}

function splitAt(text: string, separator: RegExp): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  for (const { 0: ending, index } of text.matchAll(separator)) {
    lines.push({ text: text.slice(start, index), ending: ending as LineEnding });
    start = index + ending.length;
  }
  if (start < text.length) lines.push({ text: text.slice(start), ending: "" });
  return lines;
}
