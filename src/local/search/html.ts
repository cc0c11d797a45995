import { decodeEntities } from "./entities.ts";
import { endOfRaw, type Tag, tagAt } from "./html-tag.ts";
import { HtmlText } from "./html-text.ts";

/** What a page says, and what it says of itself. */
export interface HtmlPage {
  /** Without tags, scripts and styles; blocks on lines of their own. */
  readonly text: string;
  readonly title: string | null;
  /** The first heading. */
  readonly heading: string | null;
  /** `<link rel="canonical">`, as written. */
  readonly canonical: string | null;
  /** `<base href>`, as written. */
  readonly base: string | null;
}

/** Reads a page as browsers do, never refuses one, and takes time linear in its length. */
export function readHtml(html: string): HtmlPage {
  const text = new HtmlText();
  const found: { -readonly [Key in keyof HtmlPage]: string | null } = {
    text: null,
    title: null,
    heading: null,
    canonical: null,
    base: null,
  };
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    const end = open < 0 ? html.length : open;
    if (end > at) text.add(decodeEntities(html.slice(at, end)));
    if (open < 0) break;
    const tag = tagAt(html, open);
    if (tag === null) text.add("<");
    at = tag === null ? open + 1 : tag.end;
    if (tag?.name === "plaintext" && !tag.isEnd) {
      text.meet("plaintext", "start");
      text.addAsIs(html.slice(at));
      break;
    }
    if (tag !== null) at = meet(tag, { html, text, found });
  }
  return { ...found, text: text.finish(), heading: text.heading };
}

interface Reading {
  readonly html: string;
  readonly text: HtmlText;
  readonly found: { title: string | null; canonical: string | null; base: string | null };
}

/** Where to read on after a tag and, if it has raw content, after that. */
function meet(tag: Tag, { html, text, found }: Reading): number {
  const { name, isEnd, end, attributes } = tag;
  if (name === "base" && !isEnd) found.base ??= attributes.get("href")?.trim() ?? null;
  if (name === "link" && !isEnd && isCanonical(attributes)) {
    found.canonical ??= attributes.get("href")?.trim() ?? null;
  }
  if (isEnd || !raw.has(name)) {
    text.meet(name, isEnd ? "end" : "start");
    return end;
  }
  const stop = endOfRaw(html, name, end);
  const content = html.slice(end, stop);
  if (name === "title") found.title ??= oneLine(decodeEntities(content));
  if (name === "textarea") text.add(decodeEntities(content));
  return stop;
}

/** Elements whose content is no markup. */
const raw: ReadonlySet<string> = new Set([
  ...["script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp"],
]);

function isCanonical(attributes: ReadonlyMap<string, string>): boolean {
  return (attributes.get("rel") ?? "").toLowerCase().split(/\s/).includes("canonical");
}

function oneLine(text: string): string | null {
  return text.replaceAll(/\s+/g, " ").trim() || null;
}
