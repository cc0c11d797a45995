import type { ModelCitation, ModelRequest } from "weakincentives/local";
import { isPlainObject } from "../../../src/base/freeze.ts";
import {
  filterByType,
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStrings,
} from "../../../src/base/json.ts";
import type { WireItem } from "../../../src/openai/wire.ts";

/** Returns the annotations of a response's messages, in order. */
export function listAnnotations(output: readonly WireItem[]): readonly WireItem[] {
  return filterByType(output, "message")
    .flatMap((message) => readRecords(message, "content"))
    .flatMap((part) => readRecords(part, "annotations"));
}

/** Returns pages in which every recorded search finds every page that was then cited. */
export function createReplayPages(output: readonly WireItem[]): Readonly<Record<string, string>> {
  const words = filterByType(output, "web_search_call").map((call) =>
    readString(readRecord(call, "action"), "query"),
  );
  const cited = listAnnotationsOfType(output, "url_citation");
  const titles = new Map(cited.map((one) => [readString(one, "url"), readString(one, "title")]));
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
export function createReplayFiles(
  output: readonly WireItem[],
): Readonly<Record<string, { readonly text: string }>> {
  const calls = filterByType(output, "file_search_call");
  const text = ["anything", ...calls.flatMap((call) => readStrings(call, "queries"))].join(" ");
  const names = listAnnotationsOfType(output, "file_citation").map((one) =>
    readString(one, "filename"),
  );
  return Object.fromEntries(names.map((name) => [name, { text }]));
}

/** Returns the cited files that recorded code created. */
export function listCodeFiles(output: readonly WireItem[]): readonly string[] {
  return listAnnotationsOfType(output, "container_file_citation").map((one) =>
    readString(one, "filename"),
  );
}

function listAnnotationsOfType(output: readonly WireItem[], type: string): readonly WireItem[] {
  return filterByType(listAnnotations(output), type);
}

/** Converts recorded citations for the replay: a model cites results by number. */
export function toModelCitations(
  message: WireItem,
  request: ModelRequest,
): readonly ModelCitation[] {
  const items = request.items.filter(isPlainObject);
  const urls = filterByType(items, "web_search_call")
    .map(listPages)
    .findLast((all) => all.length > 0);
  const hits = readRecords(filterByType(items, "file_search_call").at(-1) ?? {}, "results");
  const names = hits.map((hit) => readString(hit, "filename"));
  return listAnnotations([message]).map((one): ModelCitation => {
    const [start, end] = [readNumber(one, "start_index") ?? 0, readNumber(one, "end_index") ?? 0];
    const [index, filename] = [readNumber(one, "index") ?? 0, readString(one, "filename")];
    if (one["type"] === "url_citation")
      return { hit: urls?.indexOf(readString(one, "url")) ?? -1, at: [start, end] };
    if (one["type"] === "file_citation")
      return { hit: names.indexOf(filename), at: [index, index] };
    return { file: filename, at: [start, end] };
  });
}

/** Returns the pages that a search found, or the page that was opened. */
function listPages(call: WireItem): readonly string[] {
  const action = readRecord(call, "action");
  if (action["type"] === "open_page") return [readString(action, "url")];
  return readRecords(action, "sources").map((source) => readString(source, "url"));
}
