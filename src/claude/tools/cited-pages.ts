import type { UrlCitation } from "../../tools/hosted/citation.ts";

/** A page that was found. */
export interface Page {
  readonly url: string;
  readonly title: string;
}

/** From where to where, in UTF-16 units. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * Where a text cites pages that were found. The SDK gives no places; it tells the model to write
 * its sources as Markdown links, so a citation is where such a link stands, or the bare address.
 */
export function pagesCited(text: string, pages: readonly Page[]): readonly UrlCitation[] {
  const titles = new Map<string, string>();
  for (const { url, title } of pages) titles.set(url, titles.get(url) || title);
  const found = [...titles].flatMap(([url, title]) =>
    placesOf(url, text).map((place) => ({ ...place, url, title })),
  );
  // A link whose label is an address cites once: what begins first and reaches furthest counts.
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

function placesOf(url: string, text: string): readonly Place[] {
  const address = url.replace(/\/$/, ""); // the same page, with it or without
  if (address === "") return [];
  const places: Place[] = [];
  for (let start = text.indexOf(address); start >= 0; ) {
    const after = start + address.length;
    const rest = text.slice(after, after + LONGEST_PART);
    const end = after + rest.length - rest.replace(/^\/?(?:#[^\s<>()[\]"]*)?/, "").length;
    if (!goesOn.test(text.slice(end, end + 4))) places.push(linkAround({ start, end }, text));
    start = text.indexOf(address, after);
  }
  return places;
}

/** Of a link: its label, its title, the part of a page. */
const LONGEST_PART = 1000;

/** The address is a longer one: full stops and the like are part of one only before more of it. */
const goesOn = /^(?:[.,;:!]*[\p{L}\p{N}%&=?+~_@$(/-])/u;

/** `[label](address "title")`, or what was given if there is no such link around it. */
function linkAround({ start, end }: Place, text: string): Place {
  const before = text.slice(Math.max(0, start - LONGEST_PART), start);
  const opening = /\]\(<?$/.exec(before);
  const closing = /^>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(end, end + LONGEST_PART));
  const label = opening && closing ? labelBefore(before, opening.index) : null;
  if (label === null || closing === null) return { start, end };
  return { start: start - before.length + label, end: end + closing[0].length };
}

/** Where the bracket was opened that closes at `end`; labels may hold brackets. */
function labelBefore(text: string, end: number): number | null {
  let depth = 0;
  for (let at = end; at >= 0; at--) {
    if (text[at] === "]") depth += 1;
    else if (text[at] === "[") depth -= 1;
    if (depth === 0) return at;
  }
  return null;
}
