import type { UrlCitation } from "../../tools/hosted/citation.ts";

/** A page in search results. */
export interface Page {
  readonly url: string;
  readonly title: string;
}

/** A range in a text, in UTF-16 code units. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds citations of pages in a text. The SDK reports no positions. It instructs the model to write
 * sources as Markdown links, so a citation is a Markdown link or a bare URL of a page.
 */
export function findCitations(text: string, pages: readonly Page[]): readonly UrlCitation[] {
  const titles = new Map<string, string>();
  for (const { url, title } of pages) titles.set(url, titles.get(url) || title);
  const found = [...titles].flatMap(([url, title]) =>
    findRanges(url, text).map((range) => ({ ...range, url, title })),
  );
  // A link whose label is a URL is one citation: the first and longest range counts.
  const ordered = found.toSorted((one, two) => one.start - two.start || two.end - one.end);
  const citations: UrlCitation[] = [];
  let citedUntil = 0;
  for (const { start, end, url, title } of ordered) {
    if (start < citedUntil) continue;
    citations.push({ type: "url", span: [start, end], url, title });
    citedUntil = end;
  }
  return citations;
}

function findRanges(url: string, text: string): readonly TextRange[] {
  const address = url.replace(/\/$/, ""); // a trailing slash does not change the page
  if (address === "") return [];
  const ranges: TextRange[] = [];
  for (let start = text.indexOf(address); start >= 0; ) {
    const after = start + address.length;
    const rest = text.slice(after, after + MAX_PART_CHARS);
    const end = after + rest.length - rest.replace(/^\/?(?:#[^\s<>()[\]"]*)?/, "").length;
    if (!ADDRESS_CONTINUES.test(text.slice(end, end + 4)))
      ranges.push(widenToLink({ start, end }, text));
    start = text.indexOf(address, after);
  }
  return ranges;
}

/** Maximum characters of a link's label, its title, or a URL fragment. */
const MAX_PART_CHARS = 1000;

/** Matches if a URL continues. Punctuation belongs to the URL only if more characters follow. */
const ADDRESS_CONTINUES = /^(?:[.,;:!]*[\p{L}\p{N}%&=?+~_@$(/-])/u;

/** Extends a URL's range to the surrounding link, `[label](url "title")`, if there is one. */
function widenToLink({ start, end }: TextRange, text: string): TextRange {
  const before = text.slice(Math.max(0, start - MAX_PART_CHARS), start);
  const opening = /\]\(<?$/.exec(before);
  const closing = /^>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(end, end + MAX_PART_CHARS));
  const label = opening && closing ? findLabelStart(before, opening.index) : null;
  if (label === null || closing === null) return { start, end };
  return { start: start - before.length + label, end: end + closing[0].length };
}

/** Finds the bracket that matches the closing bracket at `end`. Labels may contain brackets. */
function findLabelStart(text: string, end: number): number | null {
  let depth = 0;
  for (let at = end; at >= 0; at--) {
    if (text[at] === "]") depth += 1;
    else if (text[at] === "[") depth -= 1;
    if (depth === 0) return at;
  }
  return null;
}
