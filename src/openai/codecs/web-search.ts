import {
  itemsOfType,
  maybeTextAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
} from "../../base/reading.ts";
import {
  type DomainFilter,
  type GeoHint,
  type WebSearchCall,
  type WebSearchConfig,
  type WebSearchResult,
  webSearchTool,
} from "../../tools/hosted/web-search.ts";
import {
  searchMessage,
  searchParams,
  searchParamTypes,
  webSearchResult,
} from "../../tools/hosted/web-search-result.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { WireItem, WireWebSearch } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { failureWith, hasFailed, identityOf, onlySet } from "./codec-parts.ts";
import { type Said, said } from "./said.ts";

/** https://platform.openai.com/docs/guides/tools-web-search */
export const webSearchCodec: HostedToolCodec<WebSearchConfig, WebSearchResult> = {
  kind: "web_search",

  params: searchParamTypes,

  serialize(tool) {
    checkedConfig(tool, () => webSearchTool(tool.config));
    const { domainFilter, geoHint, allowLiveAccess, searchContextSize } = tool.config;
    const entry: WireWebSearch = {
      type: "web_search",
      ...onlySet({
        filters: domainFilter && filtersOf(domainFilter),
        user_location: geoHint && locationOf(geoHint),
        search_context_size: searchContextSize,
        external_web_access: allowLiveAccess === false ? false : undefined,
      }),
    };
    return entry;
  },

  include: () => ["web_search_call.action.sources"],

  /** The only form that is proven: `{ type: "web_search" }` is in no schema of the provider. */
  toolChoice: () => ({ type: "web_search_preview" }),

  /** OpenAI documents one list or the other; with both it has been seen to keep to neither. */
  warning({ config: { domainFilter } }) {
    const { allowed, blocked } = { ...domainFilter };
    if (!allowed?.length || !blocked?.length) return null;
    return "a search that both allows and blocks domains may keep to neither list";
  },

  parseOutput(items) {
    const calls = itemsOfType(items, "web_search_call");
    return calls.length > 0 ? resultOf(calls, pagesIn(items)) : null;
  },

  calls(items, tool) {
    const words = pagesIn(items);
    return itemsOfType(items, "web_search_call").map((item) => {
      const call = searchOf(item);
      return {
        ...identityOf(item, tool),
        params: searchParams(call, patternOf(item)),
        output: hasFailed(call.status) ? null : resultOf([item], words),
        success: !hasFailed(call.status),
        message: messageOf(item, call),
      };
    });
  },
};

function filtersOf({ allowed = [], blocked = [] }: DomainFilter): WireWebSearch["filters"] {
  if (allowed.length === 0 && blocked.length === 0) return undefined;
  return onlySet({
    allowed_domains: allowed.length > 0 ? allowed : undefined,
    blocked_domains: blocked.length > 0 ? blocked : undefined,
  });
}

function locationOf({ countryCode, city, region, timezone }: GeoHint) {
  return {
    type: "approximate",
    ...onlySet({ country: countryCode, city, region, timezone }),
  } as const;
}

/** Only pages: what else the text cites was not found on the web. */
function pagesIn(items: readonly WireItem[]): Said {
  const { text, citations } = said(items);
  return { text, citations: citations.filter(({ type }) => type === "url") };
}

function resultOf(calls: readonly WireItem[], words: Said): WebSearchResult {
  const consulted = calls
    .flatMap((item) => recordsAt(recordAt(item, "action"), "sources"))
    .map((source) => textAt(source, "url")); // sources that are an API have none
  return webSearchResult(words, { consulted, searches: calls.map(searchOf) });
}

function searchOf(item: WireItem): WebSearchCall {
  const action = recordAt(item, "action");
  const { type } = action;
  return {
    id: textAt(item, "id"),
    action: type === "open_page" || type === "find_in_page" ? type : "search",
    queries: queriesOf(action),
    url: maybeTextAt(action, "url"),
    status: textAt(item, "status"),
  };
}

/** `query` is the older form, still sent beside `queries` or alone. */
function queriesOf(action: WireItem): readonly string[] {
  const queries = textsAt(action, "queries");
  const query = textAt(action, "query");
  return queries.length > 0 || query === "" ? queries : [query];
}

function patternOf(item: WireItem): string | null {
  return maybeTextAt(recordAt(item, "action"), "pattern");
}

function messageOf(item: WireItem, call: WebSearchCall): string {
  return hasFailed(call.status)
    ? failureWith(call.status)
    : searchMessage(call, patternOf(item) ?? "");
}
