import type { ModelCitation, ModelRequest } from "weakincentives/local";
import { isPlainObject } from "../../../src/base/freeze.ts";
import {
  itemsOfType,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
} from "../../../src/base/reading.ts";
import type { WireItem } from "../../../src/openai/wire.ts";

/** What the messages of a response cite, in order. */
export function citedIn(output: readonly WireItem[]): readonly WireItem[] {
  return itemsOfType(output, "message")
    .flatMap((message) => recordsAt(message, "content"))
    .flatMap((part) => recordsAt(part, "annotations"));
}

/** A web in which every search that was recorded finds every page that was then cited. */
export function pagesFor(output: readonly WireItem[]): Readonly<Record<string, string>> {
  const words = itemsOfType(output, "web_search_call").map((call) =>
    textAt(recordAt(call, "action"), "query"),
  );
  const cited = citedOf(output, "url_citation");
  const titles = new Map(cited.map((one) => [textAt(one, "url"), textAt(one, "title")]));
  const pages = [...titles].map(([, title], at) => [`${at}.html`, page(title, words)] as const);
  const urls = [...titles.keys()].map((url, at) => [`${at}.html`, url] as const);
  return {
    "other.html": page("Owls", ["anything"]),
    ...Object.fromEntries(pages),
    "pages.json": JSON.stringify(Object.fromEntries(urls)),
  };
}

function page(title: string, words: readonly string[]): string {
  return `<title>${escaped(title)}</title><p>${escaped(`anything ${words.join(" ")}`)}</p>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** The files of a vector store in which every search that was recorded finds those that were cited. */
export function filesFor(
  output: readonly WireItem[],
): Readonly<Record<string, { readonly text: string }>> {
  const calls = itemsOfType(output, "file_search_call");
  const text = ["anything", ...calls.flatMap((call) => textsAt(call, "queries"))].join(" ");
  const names = citedOf(output, "file_citation").map((one) => textAt(one, "filename"));
  return Object.fromEntries(names.map((name) => [name, { text }]));
}

/** The files that recorded code made, as far as they were cited. */
export function madeFilesFor(output: readonly WireItem[]): readonly string[] {
  return citedOf(output, "container_file_citation").map((one) => textAt(one, "filename"));
}

function citedOf(output: readonly WireItem[], type: string): readonly WireItem[] {
  return itemsOfType(citedIn(output), type);
}

/** The same citations, of what was found here: a model names what it found by its number. */
export function citationsOf(message: WireItem, request: ModelRequest): readonly ModelCitation[] {
  const items = request.items.filter(isPlainObject);
  const urls = itemsOfType(items, "web_search_call")
    .map(pagesOf)
    .findLast((all) => all.length > 0);
  const hits = recordsAt(itemsOfType(items, "file_search_call").at(-1) ?? {}, "results");
  const names = hits.map((hit) => textAt(hit, "filename"));
  return citedIn([message]).map((one): ModelCitation => {
    const [start, end] = [numberAt(one, "start_index") ?? 0, numberAt(one, "end_index") ?? 0];
    const [index, filename] = [numberAt(one, "index") ?? 0, textAt(one, "filename")];
    if (one["type"] === "url_citation")
      return { hit: urls?.indexOf(textAt(one, "url")) ?? -1, at: [start, end] };
    if (one["type"] === "file_citation")
      return { hit: names.indexOf(filename), at: [index, index] };
    return { file: filename, at: [start, end] };
  });
}

/** What a search found, or the page that was opened. */
function pagesOf(call: WireItem): readonly string[] {
  const action = recordAt(call, "action");
  if (action["type"] === "open_page") return [textAt(action, "url")];
  return recordsAt(action, "sources").map((source) => textAt(source, "url"));
}
