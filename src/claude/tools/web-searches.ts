import { isPlainObject } from "../../base/freeze.ts";
import { recordsAt, textAt } from "../../base/reading.ts";
import type { WebSearchCall, WebSearchResult } from "../../tools/hosted/web-search.ts";
import {
  searchMessage,
  searchParams,
  webSearchResult,
} from "../../tools/hosted/web-search-result.ts";
import type { Given } from "../given.ts";
import { type Page, pagesCited } from "./cited-pages.ts";

/** A search that has ended. */
interface Search {
  readonly call: WebSearchCall;
  readonly pages: readonly Page[];
}

/** All searches of an evaluation. */
export class WebSearches {
  readonly #searches = new Map<string, Search>();

  /** Takes in a search, and tells of it as of any hosted call. */
  add(id: string, input: Given, { response, error }: { response: unknown; error: string | null }) {
    const found: Given = isPlainObject(response) ? response : {};
    const problem = error ?? problemIn(found);
    const query = textAt(input, "query") || textAt(found, "query");
    const status = problem === null ? "completed" : "failed";
    const queries = query === "" ? [] : [query];
    const call = { id, action: "search", queries, url: null, status } as const;
    const search = { call, pages: pagesIn(found) };
    this.#searches.set(id, search);
    return {
      params: searchParams(call),
      output: problem === null ? resultOf([search], "") : null,
      success: problem === null,
      message: problem ?? searchMessage(call),
    };
  }

  /** What all searches gave, with the pages that `text` cites; `null` if there were none. */
  result(text: string): WebSearchResult | null {
    return this.#searches.size === 0 ? null : resultOf([...this.#searches.values()], text);
  }
}

function resultOf(searches: readonly Search[], text: string): WebSearchResult {
  const pages = searches.flatMap((search) => search.pages);
  const consulted = pages.map(({ url }) => url);
  const calls = searches.map(({ call }) => call);
  const words = { text, citations: pagesCited(text, pages) };
  return webSearchResult(words, { consulted, searches: calls });
}

/** `results` has what the searching model wrote as texts, and what was found as objects. */
function pagesIn(found: Given): readonly Page[] {
  return recordsAt(found, "results")
    .flatMap((result) => recordsAt(result, "content"))
    .map((page) => ({ url: textAt(page, "url"), title: textAt(page, "title") }))
    .filter(({ url }) => url !== "");
}

/** The SDK puts a failed search among the texts; it is one of the call only if nothing was found. */
function problemIn(found: Given): string | null {
  const { results } = found;
  const texts = Array.isArray(results) ? results.filter((one) => typeof one === "string") : [];
  if (recordsAt(found, "results").length > 0) return null;
  return texts.find((text) => text.startsWith("Web search error: ")) ?? null;
}
