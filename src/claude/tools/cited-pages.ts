import type { UrlCitation } from "../../tools/hosted/citation.ts";

/** A page that a search has found. */
export interface Page {
  readonly url: string;
  readonly title: string;
}

/** A range of a text, in UTF-16 units. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds where a text cites pages. The SDK reports no positions; it tells the model to write its
 * sources as Markdown links, so a citation is such a link, or a bare address.
 */
export function findCitations(text: string, pages: readonly Page[]): readonly UrlCitation[] {
  const titles = new Map<string, string>();
  for (const { url, title } of pages) titles.set(url, titles.get(url) || title);
  const found = [...titles].flatMap(([url, title]) =>
    findPlaces(url, text).map((place) => ({ ...place, url, title })),
  );
  // A link whose label is an address is one citation: the first and longest range counts.
  const ordered = found.toSorted((one, two) => one.start - two.start || two.end - one.end);
  const citations: UrlCitation[] = [];
  let cited = 0;
  for (const { start, end, url, title } of ordered) {
    if (start < cited) continue;
    citations.push({ type: "url", span: [start, end], url, title });
    cited = end;
  }
  return citations;
}

function findPlaces(url: string, text: string): readonly Place[] {
  const address = url.replace(/\/$/, ""); // the same page, with the slash or without
  if (address === "") return [];
  const places: Place[] = [];
  for (let start = text.indexOf(address); start >= 0; ) {
    const after = start + address.length;
    const rest = text.slice(after, after + LONGEST_PART);
    const end = after + rest.length - rest.replace(/^\/?(?:#[^\s<>()[\]"]*)?/, "").length;
    if (!continues.test(text.slice(end, end + 4))) places.push(widenToLink({ start, end }, text));
    start = text.indexOf(address, after);
  }
  return places;
}

/** The most characters of a link's label, its title, or a page's fragment. */
const LONGEST_PART = 1000;

/** Matches if the address continues. Punctuation is part of it only if more of it follows. */
const continues = /^(?:[.,;:!]*[\p{L}\p{N}%&=?+~_@$(/-])/u;

/** Widens an address to the link around it, `[label](address "title")`, if there is one. */
function widenToLink({ start, end }: Place, text: string): Place {
  const before = text.slice(Math.max(0, start - LONGEST_PART), start);
  const opening = /\]\(<?$/.exec(before);
  const closing = /^>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(end, end + LONGEST_PART));
  const label = opening && closing ? findLabelStart(before, opening.index) : null;
  if (label === null || closing === null) return { start, end };
  return { start: start - before.length + label, end: end + closing[0].length };
}

/** Finds the bracket that closes at `end`. Labels may contain brackets. */
function findLabelStart(text: string, end: number): number | null {
  let depth = 0;
  for (let at = end; at >= 0; at--) {
    if (text[at] === "]") depth += 1;
    else if (text[at] === "[") depth -= 1;
    if (depth === 0) return at;
  }
  return null;
}
