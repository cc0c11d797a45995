import type { WebSearchCall, WebSearchResult } from "./web-search.ts";

/**
 * Creates a `WebSearchResult`. `sourceUrls` lists each URL once: first the consulted pages, then
 * pages that were only cited.
 */
export function createWebSearchResult(
  { text, citations }: Pick<WebSearchResult, "text" | "citations">,
  { consulted, searches }: WebSearchFindings,
): WebSearchResult {
  const urls = new Set(consulted);
  for (const citation of citations) if (citation.type === "url") urls.add(citation.url);
  urls.delete("");
  return { text, citations, sourceUrls: [...urls], searches };
}

/** All calls during an evaluation, and the pages that they consulted. */
export interface WebSearchFindings {
  /** URLs of consulted pages; may contain empty strings and duplicates. */
  readonly consulted: readonly string[];
  readonly searches: readonly WebSearchCall[];
}

/** Names and JSON types of the params that `searchParams` returns. */
export const searchParamTypes = {
  action: "string",
  query: "string",
  queries: "array",
  url: "string",
  pattern: "string",
} as const;

/**
 * Describes a call as params. `query` is always set, so that a tool can declare it for every
 * action.
 */
export function toSearchParams(
  { action, queries, url }: WebSearchCall,
  pattern: string | null = null,
): object {
  return {
    action,
    query: queries[0] ?? pattern ?? url ?? "",
    ...((action === "search" || queries.length > 0) && { queries }),
    ...(url !== null && { url }),
    ...(pattern !== null && { pattern }),
  };
}

/** Describes a successful call in a few words. */
export function describeSearch({ action, queries, url }: WebSearchCall, pattern = ""): string {
  if (action === "search")
    return queries.length > 0 ? `Searched: ${queries.join("; ")}` : "Searched";
  if (action === "open_page") return `Opened ${url ?? "a page"}`;
  return `Looked for "${pattern}" in ${url ?? "a page"}`;
}
