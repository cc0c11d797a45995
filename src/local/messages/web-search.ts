import { numberAt, textsAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import type { WebService } from "../tools/tool-services.ts";
import { lastText } from "../turn/last-text.ts";
import type { Sealer } from "../turn/sealed.ts";
import type { MessageRequest } from "./check/request.ts";
import { isWebSearch } from "./check/tools.ts";
import { modelItems } from "./model-items.ts";

/** A page that a search found. */
export interface FoundPage {
  readonly url: string;
  readonly title: string;
  readonly snippet: string;
}

/** What a search needs of the server. */
export interface SearchServices {
  readonly web: WebService | null;
  readonly ids: Ids;
  readonly sealer: Sealer;
}

/** A search that the API ran, in its two blocks. */
export interface RanSearch {
  readonly pages: readonly FoundPage[];
  readonly blocks: readonly (WireItem & { readonly type: string })[];
}

/** Searches the pages that the server was given, within the tool's domains and as often as it allows. */
export function runSearch(
  query: string,
  tool: WireItem,
  { web, ids, sealer, searches }: SearchServices & { readonly searches: number },
): RanSearch {
  if (!web) throw noPages();
  const id = ids.next("srvtoolu_");
  const use = { type: "server_tool_use", id, name: "web_search", input: { query } };
  const result = (content: unknown) => ({
    type: "web_search_tool_result",
    tool_use_id: id,
    content,
  });
  if (searches >= (numberAt(tool, "max_uses") ?? Number.POSITIVE_INFINITY)) {
    const error = { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" };
    return { pages: [], blocks: [use, result(error)] };
  }
  const pages = web.search(query, {
    allowedDomains: textsAt(tool, "allowed_domains"),
    blockedDomains: textsAt(tool, "blocked_domains"),
  });
  const found = pages.map(({ url, title, snippet }) => ({
    type: "web_search_result",
    title,
    url,
    encrypted_content: sealer.seal({ snippet }),
    page_age: null,
  }));
  return { pages, blocks: [use, result(found)] };
}

/** Where a text comes from. */
export function citationOf({ url, title, snippet }: FoundPage, sealer: Sealer): WireItem {
  return {
    type: "web_search_result_location",
    url,
    title,
    encrypted_index: sealer.seal({ url }),
    cited_text: [...snippet].slice(0, 150).join(""),
  };
}

/**
 * The search of a request that leaves the model nothing to decide: one tool, which it must use or is
 * told to. The Claude Agent SDK sends such a request for each call of its WebSearch, of one form or
 * the other by the model's name; no model is asked then.
 */
export function forcedSearch({ tools, toolChoice, messages }: MessageRequest): string | null {
  const [tool, ...others] = tools;
  if (!tool || others.length > 0 || !isWebSearch(tool)) return null;
  if (messages.some(({ role }) => role === "assistant")) return null;
  const said = lastText(modelItems(messages));
  const isForced = toolChoice.type === "tool" || toolChoice.type === "any";
  if (!isForced && !ASKING.test(said)) return null;
  return said.replace(ASKING, "").trim() || null;
}

const ASKING = /^Perform a web search for the query:\s*/i;

/** What the pages say, each with its source. */
export function summaryOf(pages: readonly FoundPage[], sealer: Sealer): readonly WireItem[] {
  if (pages.length === 0) return [{ type: "text", text: "Nothing was found." }];
  return pages.map((page, place) => ({
    type: "text",
    text: `${place === 0 ? "" : "\n"}${page.title}: ${page.snippet}`,
    citations: [citationOf(page, sealer)],
  }));
}

function noPages(): ApiProblem {
  const message =
    "There are no pages to search: start the server with a folder of pages (--web FOLDER, or the option web).";
  const headers = { "x-should-retry": "false" };
  return new ApiProblem(500, message, { code: "web_search_unavailable", headers });
}
