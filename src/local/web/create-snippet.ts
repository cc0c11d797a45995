/** Returns the part of a text with the most terms, on one line. `terms` must not be empty. */
export function createSnippet(text: string, terms: readonly string[], length = 300): string {
  const best = findBestStart(text, terms, length);
  const start = best === 0 ? 0 : findWordStart(text, best);
  const end = findWordEnd(text, Math.min(text.length, start + length));
  const words = text.slice(start, end).replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "… " : ""}${words}${end < text.length ? " …" : ""}`;
}

/** Limits on the searched length and the number of matches: enough for a page, and bounded for any text. */
const MAX_SEARCH_LENGTH = 200_000;
const MAX_PLACES = 1000;
const MAX_TERMS = 16;
const MAX_STEM_LENGTH = 24;

function findBestStart(text: string, terms: readonly string[], length: number): number {
  const pattern = new RegExp(terms.slice(0, MAX_TERMS).map(toStemPattern).join("|"), "giu");
  const places: { readonly at: number; readonly word: string }[] = [];
  for (const match of text.slice(0, MAX_SEARCH_LENGTH).matchAll(pattern)) {
    if (places.push({ at: match.index, word: match[0].toLowerCase() }) >= MAX_PLACES) break;
  }
  let best = 0;
  let most = 0;
  for (const [index, { at }] of places.entries()) {
    const words = new Set<string>();
    for (const next of places.slice(index, index + length)) {
      if (next.at >= at + length) break;
      words.add(next.word);
    }
    if (words.size <= most) continue;
    most = words.size;
    best = at;
  }
  return Math.max(0, best - LEAD_LENGTH);
}

/** Length of the context before the first matching term. */
const LEAD_LENGTH = 60;

/** Builds a pattern that drops the endings of long words, like the index. Terms consist of letters and digits. */
function toStemPattern(term: string): string {
  const stem = term.length > 6 ? term.slice(0, Math.max(5, term.length - 3)) : term;
  return stem.slice(0, MAX_STEM_LENGTH).replaceAll(" ", "\\s*");
}

function findWordStart(text: string, from: number): number {
  const space = text.slice(from, from + LEAD_LENGTH).search(/\s/);
  return space < 0 ? from : from + space + 1;
}

function findWordEnd(text: string, from: number): number {
  const space = text.slice(from, from + LEAD_LENGTH).search(/\s/);
  return space < 0 ? Math.min(text.length, from + LEAD_LENGTH) : from + space;
}
