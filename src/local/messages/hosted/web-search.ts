import { readNumber, readStrings } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import type { Ids } from "../../ids.ts";
import type { ModelAction } from "../../model-action.ts";
import { StepFault } from "../../step-fault.ts";
import type { WebService } from "../../tools/tool-services.ts";
import { readLastText } from "../../turn/read-last-text.ts";
import type { Sealer } from "../../turn/sealer.ts";
import type { MessageRequest } from "../check/request.ts";
import { isWebSearch } from "../check/tools.ts";
import { toModelItems } from "../model-items.ts";
import type { FoundPage } from "./found-page.ts";

/** Services that a search needs. */
export interface SearchServices {
  readonly web: WebService | null;
  readonly ids: Ids;
  readonly sealer: Sealer;
}

/** A search that the API ran: its pages, and its two content blocks. */
export interface SearchOutcome {
  readonly pages: readonly FoundPage[];
  readonly blocks: readonly (WireItem & { readonly type: string })[];
}

/** Searches the server's pages, within the tool's domains and its `max_uses`. */
export function runWebSearch(
  query: string,
  tool: WireItem,
  { web, ids, sealer, searches }: SearchServices & { readonly searches: number },
): SearchOutcome {
  if (!web) throw createNoPagesFault();
  const id = ids.next("srvtoolu_");
  const use = { type: "server_tool_use", id, name: "web_search", input: { query } };
  const createResultBlock = (content: unknown) => ({
    type: "web_search_tool_result",
    tool_use_id: id,
    content,
  });
  if (searches >= (readNumber(tool, "max_uses") ?? Number.POSITIVE_INFINITY)) {
    const error = { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" };
    return { pages: [], blocks: [use, createResultBlock(error)] };
  }
  const pages = web.search(query, {
    allowedDomains: readStrings(tool, "allowed_domains"),
    blockedDomains: readStrings(tool, "blocked_domains"),
  });
  const found = pages.map(({ url, title, snippet }) => ({
    type: "web_search_result",
    title,
    url,
    encrypted_content: sealer.seal({ snippet }),
    page_age: null,
  }));
  return { pages, blocks: [use, createResultBlock(found)] };
}

/** Creates the citation of a page. */
export function createCitation({ url, title, snippet }: FoundPage, sealer: Sealer): WireItem {
  return {
    type: "web_search_result_location",
    url,
    title,
    encrypted_index: sealer.seal({ url }),
    cited_text: [...snippet].slice(0, 150).join(""),
  };
}

/**
 * Returns the query of a request that forces a search, or `null`. The request has only the search tool, and
 * its tool choice or its text demands a search. The Claude Agent SDK sends one, in a form that depends on the
 * model's name, for each WebSearch call. The model is not called.
 */
export function findForcedQuery({ tools, toolChoice, messages }: MessageRequest): string | null {
  const [tool, ...others] = tools;
  if (!tool || others.length > 0 || !isWebSearch(tool)) return null;
  if (messages.some(({ role }) => role === "assistant")) return null;
  const text = readLastText(toModelItems(messages));
  const isForced = toolChoice.type === "tool" || toolChoice.type === "any";
  if (!isForced && !SEARCH_PROMPT.test(text)) return null;
  return text.replace(SEARCH_PROMPT, "").trim() || null;
}

const SEARCH_PROMPT = /^Perform a web search for the query:\s*/i;

/** Returns text blocks that quote the pages, each with its citation. */
export function createSummary(pages: readonly FoundPage[], sealer: Sealer): readonly WireItem[] {
  if (pages.length === 0) return [{ type: "text", text: "No results found." }];
  return pages.map((page, place) => ({
    type: "text",
    text: `${place === 0 ? "" : "\n"}${page.title}: ${page.snippet}`,
    citations: [createCitation(page, sealer)],
  }));
}

/** Returns the query of a search action; `null` if it opens a page or searches files. */
export function toWebQuery(
  search: Extract<ModelAction, { search: unknown }>["search"],
): string | null {
  if (typeof search === "string") return search;
  return "web" in search ? search.web : null;
}

/** Creates the error for a search on a server that has no pages. */
export function createNoPagesFault(): StepFault {
  const message =
    "The server has no pages to search. Start the server with a folder of pages: pass --web FOLDER or the option web.";
  return new StepFault(message, { code: "web_search_unavailable" });
}
