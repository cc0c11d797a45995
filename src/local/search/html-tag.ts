import { decodeEntities } from "./entities.ts";

/** A tag or, with an empty name, a comment or declaration. */
export interface Tag {
  /** In lower case. */
  readonly name: string;
  readonly isEnd: boolean;
  /** The place after it. What is not closed lasts to the end of the page, as in browsers. */
  readonly end: number;
  readonly attributes: ReadonlyMap<string, string>;
}

/** What begins with the `<` at a place; `null` if that is only a character. */
export function tagAt(html: string, open: number): Tag | null {
  const next = html[open + 1] ?? "";
  if (next === "!" || next === "?") return comment(html, open);
  const isEnd = next === "/";
  const from = open + (isEnd ? 2 : 1);
  if (!/[a-z]/i.test(html[from] ?? "")) {
    return isEnd && from < html.length ? comment(html, open) : null;
  }
  const nameEnd = skip(html, from, (code) => !isSpace(code) && code !== SLASH && code !== CLOSE);
  const name = html.slice(from, nameEnd).toLowerCase();
  const attributes = new Map<string, string>();
  return { name, isEnd, end: readAttributes(html, nameEnd, attributes), attributes };
}

/** Where the content of a raw element ends: before its end tag, or at the end of the page. */
export function endOfRaw(html: string, name: string, from: number): number {
  const endTag = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  endTag.lastIndex = from;
  return endTag.exec(html)?.index ?? html.length;
}

const SLASH = 0x2f;
const CLOSE = 0x3e;
const EQUALS = 0x3d;

function comment(html: string, open: number): Tag {
  const isFull = html.startsWith("<!--", open);
  const close = isFull ? html.indexOf("-->", open + 2) : html.indexOf(">", open);
  const end = close < 0 ? html.length : close + (isFull ? 3 : 1);
  return { name: "", isEnd: false, end, attributes: new Map() };
}

/** The place after the tag. The first of two attributes of one name counts. */
function readAttributes(html: string, from: number, into: Map<string, string>): number {
  let at = from;
  while (true) {
    at = skip(html, at, (code) => isSpace(code) || code === SLASH);
    if (at >= html.length) return at;
    if (html.charCodeAt(at) === CLOSE) return at + 1;
    const nameEnd = skip(html, at + 1, (code) => !isSpace(code) && !nameEnds.has(code));
    const name = html.slice(at, nameEnd).toLowerCase();
    at = skip(html, nameEnd, isSpace);
    let value = "";
    if (html.charCodeAt(at) === EQUALS) {
      const from = skip(html, at + 1, isSpace);
      at = valueEnd(html, from);
      value = html.slice(from, at).replace(/^["']/, "");
      if (html[from] === '"' || html[from] === "'") at += 1;
    }
    if (!into.has(name)) into.set(name, decodeEntities(value));
  }
}

const nameEnds: ReadonlySet<number> = new Set([SLASH, CLOSE, EQUALS]);

/** Where a value ends: at its closing quote, or without quotes at a space or the tag's end. */
function valueEnd(html: string, from: number): number {
  const quote = html[from];
  if (quote !== '"' && quote !== "'") {
    return skip(html, from, (code) => !isSpace(code) && code !== CLOSE);
  }
  const close = html.indexOf(quote, from + 1);
  return close < 0 ? html.length : close;
}

function skip(html: string, from: number, goesOn: (code: number) => boolean): number {
  let at = from;
  while (at < html.length && goesOn(html.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
