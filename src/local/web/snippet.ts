/** The part of a text that has most of the terms, of which there are some, on one line. */
export function snippetOf(text: string, terms: readonly string[], length = 300): string {
  const best = bestStart(text, terms, length);
  const start = best === 0 ? 0 : wordStart(text, best);
  const end = wordEnd(text, Math.min(text.length, start + length));
  const words = text.slice(start, end).replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "… " : ""}${words}${end < text.length ? " …" : ""}`;
}

/** How far is looked, and at how many places: enough for a page, and bounded for any text. */
const FARTHEST = 200_000;
const MOST_PLACES = 1000;

function bestStart(text: string, terms: readonly string[], length: number): number {
  const pattern = new RegExp(terms.map(stemPattern).join("|"), "giu");
  const places: { readonly at: number; readonly word: string }[] = [];
  for (const match of text.slice(0, FARTHEST).matchAll(pattern)) {
    if (places.push({ at: match.index, word: match[0].toLowerCase() }) >= MOST_PLACES) break;
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
  return Math.max(0, best - LEAD);
}

/** How much stands before the first word that was asked for. */
const LEAD = 60;

/** Long words without their endings, as the index knows them. Terms are letters and digits. */
function stemPattern(term: string): string {
  const stem = term.length > 6 ? term.slice(0, Math.max(5, term.length - 3)) : term;
  return stem.replaceAll(" ", "\\s*");
}

function wordStart(text: string, from: number): number {
  const space = text.slice(from, from + LEAD).search(/\s/);
  return space < 0 ? from : from + space + 1;
}

function wordEnd(text: string, from: number): number {
  const space = text.slice(from, from + LEAD).search(/\s/);
  return space < 0 ? Math.min(text.length, from + LEAD) : from + space;
}
