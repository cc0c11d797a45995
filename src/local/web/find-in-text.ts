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

/** Longer searches are not useful. */
const MAX_PATTERN_LENGTH = 1000;

/**
 * Finds the first 100 matches of some words, ignoring case and differences in white space. Takes time proportional to
 * the length of the text for any pattern.
 */
export function findInText(text: string, pattern: string): readonly TextMatch[] {
  const wanted = foldText(pattern.slice(0, MAX_PATTERN_LENGTH).trim()).folded;
  if (wanted === "") return [];
  const { folded, places } = foldText(text);
  const matches: TextMatch[] = [];
  for (const at of findAll(folded, wanted)) {
    const start = places[at] as number;
    const end = (places[at + wanted.length - 1] as number) + 1;
    const around = text.slice(Math.max(0, start - CONTEXT_LENGTH), end + CONTEXT_LENGTH);
    matches.push({ start, end, text: around.replaceAll(/\s+/g, " ").trim() });
    if (matches.length >= MAX_MATCHES) break;
  }
  return matches;
}

/** A text in lower case, with one space for white space, and the index of each of its characters in the original. */
interface FoldedText {
  readonly folded: string;
  readonly places: Int32Array;
}

function foldText(text: string): FoldedText {
  const lower = toLowerCase(text);
  const places = new Int32Array(text.length);
  const parts: string[] = [];
  let length = 0;
  const add = (part: string, from: number, step: number) => {
    parts.push(part);
    for (let index = 0; index < part.length; index++) places[length++] = from + index * step;
  };
  let end = 0;
  for (const { 0: space, index } of lower.matchAll(/\s+/g)) {
    add(lower.slice(end, index), end, 1);
    add(" ", index, 0);
    end = index + space.length;
  }
  add(lower.slice(end), end, 1);
  return { folded: parts.join(""), places: places.subarray(0, length) };
}

/** Converts to lower case without changing the length: a few characters, such as İ, would become two. */
function toLowerCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (character) => {
    const changed = character.toLowerCase();
    return changed.length === character.length ? changed : character;
  }).join("");
}

/** Finds all places that do not overlap, with the algorithm of Knuth, Morris and Pratt. */
function* findAll(text: string, wanted: string): Generator<number> {
  const fallbacks = createFallbacks(wanted);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== wanted[matched]) matched = fallbacks[matched - 1] as number;
    if (text[at] === wanted[matched]) matched += 1;
    if (matched < wanted.length) continue;
    yield at - wanted.length + 1;
    matched = 0;
  }
}

/** For each prefix of a text, the length of its longest proper prefix that is also a suffix. */
function createFallbacks(text: string): readonly number[] {
  const lengths = [0];
  for (let at = 1; at < text.length; at++) {
    let length = lengths[at - 1] as number;
    while (length > 0 && text[at] !== text[length]) length = lengths[length - 1] as number;
    lengths.push(text[at] === text[length] ? length + 1 : 0);
  }
  return lengths;
}
