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

/** Returns the annotations of a response's messages, in order. */
export function citedIn(output: readonly WireItem[]): readonly WireItem[] {
  return itemsOfType(output, "message")
    .flatMap((message) => recordsAt(message, "content"))
    .flatMap((part) => recordsAt(part, "annotations"));
}

/** Returns pages in which every recorded search finds every page that was then cited. */
export function pagesFor(output: readonly WireItem[]): Readonly<Record<string, string>> {
  const words = itemsOfType(output, "web_search_call").map((call) =>
    textAt(recordAt(call, "action"), "query"),
  );
  const cited = listAnnotationsOfType(output, "url_citation");
  const titles = new Map(cited.map((one) => [textAt(one, "url"), textAt(one, "title")]));
  const pages = [...titles].map(
    ([, title], at) => [`${at}.html`, createPage(title, words)] as const,
  );
  const urls = [...titles.keys()].map((url, at) => [`${at}.html`, url] as const);
  return {
    "other.html": createPage("Owls", ["anything"]),
    ...Object.fromEntries(pages),
    "pages.json": JSON.stringify(Object.fromEntries(urls)),
  };
}

function createPage(title: string, words: readonly string[]): string {
  return `<title>${escapeHtml(title)}</title><p>${escapeHtml(`anything ${words.join(" ")}`)}</p>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Returns files for a vector store in which every recorded search finds the cited files. */
export function filesFor(
  output: readonly WireItem[],
): Readonly<Record<string, { readonly text: string }>> {
  const calls = itemsOfType(output, "file_search_call");
  const text = ["anything", ...calls.flatMap((call) => textsAt(call, "queries"))].join(" ");
  const names = listAnnotationsOfType(output, "file_citation").map((one) =>
    textAt(one, "filename"),
  );
  return Object.fromEntries(names.map((name) => [name, { text }]));
}

/** Returns the cited files that recorded code created. */
export function madeFilesFor(output: readonly WireItem[]): readonly string[] {
  return listAnnotationsOfType(output, "container_file_citation").map((one) =>
    textAt(one, "filename"),
  );
}

function listAnnotationsOfType(output: readonly WireItem[], type: string): readonly WireItem[] {
  return itemsOfType(citedIn(output), type);
}

/** Converts recorded citations for the replay: a model cites results by number. */
export function citationsOf(message: WireItem, request: ModelRequest): readonly ModelCitation[] {
  const items = request.items.filter(isPlainObject);
  const urls = itemsOfType(items, "web_search_call")
    .map(listPages)
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

/** Returns the pages that a search found, or the page that was opened. */
function listPages(call: WireItem): readonly string[] {
  const action = recordAt(call, "action");
  if (action["type"] === "open_page") return [textAt(action, "url")];
  return recordsAt(action, "sources").map((source) => textAt(source, "url"));
}
