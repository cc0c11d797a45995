import type { WebSearchCall, WebSearchResult } from "./web-search.ts";

/** What searches gave: every address once, those that were consulted before those only cited. */
export function webSearchResult(
  { text, citations }: Pick<WebSearchResult, "text" | "citations">,
  { consulted, searches }: WebSearchFindings,
): WebSearchResult {
  const cited = citations.map((citation) => (citation.type === "url" ? citation.url : ""));
  const sourceUrls = [...new Set([...consulted, ...cited])].filter((url) => url !== "");
  return { text, citations, sourceUrls, searches };
}

export interface WebSearchFindings {
  /** Addresses, of which any may be empty or come twice. */
  readonly consulted: readonly string[];
  readonly searches: readonly WebSearchCall[];
}

/** The names and JSON types of what `searchParams` may hold. */
export const searchParamTypes = {
  action: "string",
  query: "string",
  queries: "array",
  url: "string",
  pattern: "string",
} as const;

/** `query` is what was looked for, whatever was done: a tool may declare it for all its calls. */
export function searchParams(
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

/** What was done, in a word, where it went well. */
export function searchMessage({ action, queries, url }: WebSearchCall, pattern = ""): string {
  if (action === "search")
    return queries.length > 0 ? `Searched: ${queries.join("; ")}` : "Searched";
  if (action === "open_page") return `Opened ${url ?? "a page"}`;
  return `Looked for "${pattern}" in ${url ?? "a page"}`;
}
