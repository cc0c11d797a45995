/** A match in a text. */
export interface TextMatch {
  /** Index of the first character. */
  readonly start: number;
  /** Index after the last character. */
  readonly end: number;
  /** The matching words with their context, on one line. */
  readonly text: string;
}

const MAX_MATCHES = 100;
const CONTEXT_LENGTH = 100;

/** Finds the first 100 matches of some words, ignoring case and differences in white space. */
export function findInText(text: string, pattern: string): readonly TextMatch[] {
  const words = pattern.slice(0, MAX_PATTERN_LENGTH).trim().split(/\s+/);
  if (words[0] === "") return [];
  const literal = words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const matches: TextMatch[] = [];
  for (const { index, 0: found } of text.matchAll(new RegExp(literal.join("\\s+"), "giu"))) {
    const end = index + found.length;
    const around = text.slice(Math.max(0, index - CONTEXT_LENGTH), end + CONTEXT_LENGTH);
    if (
      matches.push({ start: index, end, text: around.replaceAll(/\s+/g, " ").trim() }) >=
      MAX_MATCHES
    ) {
      break;
    }
  }
  return matches;
}

/** Limits the length of the regular expression. Longer searches are not useful. */
const MAX_PATTERN_LENGTH = 1000;
