import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { recordsAt, textAt } from "../../base/reading.ts";
import {
  type WebSearchCall,
  type WebSearchResult,
  webSearchTool,
} from "../../tools/hosted/web-search.ts";
import {
  searchMessage,
  searchParams,
  webSearchResult,
} from "../../tools/hosted/web-search-result.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { Verdict } from "../workspace/bounds.ts";
import { findCitations, type Page } from "./cited-pages.ts";
import type { CallLog, HostedKind, JudgedUse, NativeTool, Obstacle } from "./hosted-kind.ts";
import { keepToDomains, toDomainRule } from "./search-domains.ts";

/** The kind `web_search`: the SDK's `WebSearch`, which takes domains and no other settings. */
export const searchKind: HostedKind = {
  kind: "web_search",
  madeBy: "`webSearchTool`",
  tools: ["WebSearch"],
  becomes:
    "typed output and citations as elsewhere; `domainFilter` always holds, and the model may only narrow it",
  refused:
    '`allowLiveAccess: false`; a `domainFilter` that blocks part of what it allows; `geoHint` and `searchContextSize`, which `"omit"` only drops',
  findObstacles,
};

/** The SDK's `WebSearch`. */
export const webSearch: NativeTool = {
  name: "WebSearch",
  isReadOnly: true,
  needsWorkspace: false,
  judge: keepToFilter,
  createLog: () => new WebSearches(),
};

/** Collects the web searches of one evaluation. */
export class WebSearches implements CallLog {
  readonly #searches = new Map<string, Search>();

  add(
    id: string,
    input: UnknownRecord,
    { response, error }: { response: unknown; error: string | null },
  ) {
    const found: UnknownRecord = isPlainObject(response) ? response : {};
    const problem = error ?? problemIn(found);
    const query = textAt(input, "query") || textAt(found, "query");
    const status = problem === null ? "completed" : "failed";
    const queries = query === "" ? [] : [query];
    const call = { id, action: "search", queries, url: null, status } as const;
    const search = { call, pages: pagesIn(found) };
    this.#searches.set(id, search);
    return {
      params: searchParams(call),
      output: problem === null ? toResult([search], "") : null,
      success: problem === null,
      message: problem ?? searchMessage(call),
    };
  }

  result(text: string): WebSearchResult | null {
    return this.#searches.size === 0 ? null : toResult([...this.#searches.values()], text);
  }
}

interface Search {
  readonly call: WebSearchCall;
  readonly pages: readonly Page[];
}

function findObstacles(tool: HostedTool): readonly (Obstacle | false)[] {
  const { config } = checkedConfig(tool, () => webSearchTool(tool.config));
  const { domainFilter, geoHint, allowLiveAccess, searchContextSize } = config;
  const field = `Hosted tool "${tool.name}" config`;
  const hasPlace = Object.values(geoHint ?? {}).some((part) => part !== undefined);
  return [
    toDomainRule(domainFilter) === null && {
      field: `${field}.domainFilter`,
      value: domainFilter,
      rule: "must not block any of what it allows on Claude, whose search takes one list",
      remedy: "keep allowed or blocked",
    },
    allowLiveAccess === false && {
      field: `${field}.allowLiveAccess`,
      value: allowLiveAccess,
      rule: "must not be false on Claude, which always searches the live web",
      remedy: 'leave it out, or run without the tool by unsupportedHostedTools: "omit"',
    },
    hasPlace && {
      field: `${field}.geoHint`,
      value: geoHint,
      rule: "must be left out on Claude, whose search knows no place",
      remedy: 'name the place in the prompt, or have it dropped by unsupportedHostedTools: "omit"',
      isDroppable: true,
    },
    searchContextSize !== undefined && {
      field: `${field}.searchContextSize`,
      value: searchContextSize,
      rule: "must be left out on Claude, which chooses it itself",
      remedy: 'leave it out, or have it dropped by unsupportedHostedTools: "omit"',
      isDroppable: true,
    },
  ];
}

function keepToFilter({ owner, input }: JudgedUse): Verdict {
  const { config } = checkedConfig(owner, () => webSearchTool(owner.config));
  const rule = toDomainRule(config.domainFilter);
  if (rule === null) return { denied: "The web may not be searched: what is allowed is blocked" };
  return keepToDomains(rule, input);
}

function toResult(searches: readonly Search[], text: string): WebSearchResult {
  const pages = searches.flatMap((search) => search.pages);
  const consulted = pages.map(({ url }) => url);
  const calls = searches.map(({ call }) => call);
  const words = { text, citations: findCitations(text, pages) };
  return webSearchResult(words, { consulted, searches: calls });
}

/** `results` mixes the search model's texts with objects that hold the pages found. */
function pagesIn(found: UnknownRecord): readonly Page[] {
  return recordsAt(found, "results")
    .flatMap((result) => recordsAt(result, "content"))
    .map((page) => ({ url: textAt(page, "url"), title: textAt(page, "title") }))
    .filter(({ url }) => url !== "");
}

/** The SDK reports a failed search as one of the texts; the call failed only if nothing was found. */
function problemIn(found: UnknownRecord): string | null {
  const { results } = found;
  const texts = Array.isArray(results) ? results.filter((one) => typeof one === "string") : [];
  if (recordsAt(found, "results").length > 0) return null;
  return texts.find((text) => text.startsWith("Web search error: ")) ?? null;
}
