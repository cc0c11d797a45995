/** Where some words are. */
export interface TextMatch {
  /** The place of the first character. */
  readonly start: number;
  /** The place after the last one. */
  readonly end: number;
  /** The words with what stands around them, on one line. */
  readonly text: string;
}

const MOST_MATCHES = 100;
const AROUND = 100;

/** The first hundred places of a text that have the words: case does not count, and any space is a space. */
export function findInText(text: string, pattern: string): readonly TextMatch[] {
  const words = pattern.slice(0, LONGEST_PATTERN).trim().split(/\s+/);
  if (words[0] === "") return [];
  const literal = words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const matches: TextMatch[] = [];
  for (const { index, 0: found } of text.matchAll(new RegExp(literal.join("\\s+"), "giu"))) {
    const end = index + found.length;
    const around = text.slice(Math.max(0, index - AROUND), end + AROUND);
    if (
      matches.push({ start: index, end, text: around.replaceAll(/\s+/g, " ").trim() }) >=
      MOST_MATCHES
    ) {
      break;
    }
  }
  return matches;
}

/** Nobody looks for more, and an expression of any length is not to be built. */
const LONGEST_PATTERN = 1000;
