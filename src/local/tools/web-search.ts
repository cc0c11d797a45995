import { recordAt, textsAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { WebService } from "../turn/ports.ts";
import type { TurnState } from "../turn/turn.ts";
import { toolOf } from "./tool-of.ts";

const types = [
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
];

/** Searches the pages that the server was given, within the tool's domains. */
export function searchWeb(query: string, state: TurnState): void {
  const tool = toolOf(state.input.tools, types, "searched the web");
  const filters = recordAt(tool, "filters");
  const found = pagesOf(state).search(query, {
    allowedDomains: textsAt(filters, "allowed_domains"),
    blockedDomains: textsAt(filters, "blocked_domains"),
  });
  state.hits = found.map(({ url, title }) => ({ type: "url", url, title }));
  const sources = found.map(({ url }) => ({ type: "url", url }));
  const results = found.map(({ url, title, snippet }) => ({
    type: "text",
    url,
    title,
    text: snippet,
  }));
  push(state, { type: "search", query, queries: [query], sources }, results);
}

/** Opens a page; one that is not there is opened in vain, as on the web. */
export function openPage(url: string, state: TurnState): void {
  toolOf(state.input.tools, types, "opened a page");
  const page = pagesOf(state).open(url);
  if (page) state.hits = [{ type: "url", url: page.url, title: page.title }];
  const results = page ? [{ type: "text", ...page }] : [];
  push(state, { type: "open_page", url }, results, page ? "completed" : "failed");
}

/** Looks for words in a page. */
export function findInPage(url: string, pattern: string, state: TurnState): void {
  toolOf(state.input.tools, types, "looked into a page");
  const results = pagesOf(state)
    .find(url, pattern)
    .map(({ text }) => ({ type: "text", url, text }));
  push(state, { type: "find_in_page", url, pattern }, results);
}

function push(
  { services, output }: TurnState,
  action: WireItem,
  results: readonly WireItem[],
  status = "completed",
): void {
  output.push({ id: services.ids.next("ws_"), type: "web_search_call", status, action, results });
}

function pagesOf({ services }: TurnState): WebService {
  if (services.tools.web) return services.tools.web;
  const message =
    "There are no pages to search: start the server with a folder of pages (--web FOLDER, or the option web).";
  throw new ApiProblem(500, message, { code: "web_search_unavailable" });
}
