import {
  filterByType,
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
  readStrings,
} from "../../base/json.ts";
import {
  type DomainFilter,
  type GeoHint,
  type WebSearchCall,
  type WebSearchConfig,
  type WebSearchResult,
  webSearchTool,
} from "../../tools/hosted/web-search.ts";
import {
  createWebSearchResult,
  describeSearch,
  searchParamTypes,
  toSearchParams,
} from "../../tools/hosted/web-search-result.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { WireItem, WireWebSearch } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { describeFailure, hasFailed, identifyCall, omitUndefined } from "./codec-call.ts";
import { type MessageText, readMessageText } from "./message-text.ts";

/** The web_search tool. https://platform.openai.com/docs/guides/tools-web-search */
export const webSearchCodec: HostedToolCodec<WebSearchConfig, WebSearchResult> = {
  kind: "web_search",

  params: searchParamTypes,

  serialize(tool) {
    checkWithFactory(tool, () => webSearchTool(tool.config));
    const { domainFilter, geoHint, allowLiveAccess, searchContextSize } = tool.config;
    const entry: WireWebSearch = {
      type: "web_search",
      ...omitUndefined({
        filters: domainFilter && toWireFilters(domainFilter),
        user_location: geoHint && toWireLocation(geoHint),
        search_context_size: searchContextSize,
        external_web_access: allowLiveAccess === false ? false : undefined,
      }),
    };
    return entry;
  },

  include: () => ["web_search_call.action.sources"],

  /** The only form known to work: OpenAI's schema does not list `{ type: "web_search" }`. */
  toolChoice: () => ({ type: "web_search_preview" }),

  /** OpenAI documents either list. With both, it has been seen to apply neither. */
  warning({ config: { domainFilter } }) {
    const { allowed, blocked } = { ...domainFilter };
    if (!allowed?.length || !blocked?.length) return null;
    return "a search that both allows and blocks domains may apply neither list";
  },

  parseOutput(items) {
    const calls = filterByType(items, "web_search_call");
    return calls.length > 0 ? createSearchResult(calls, selectPages(readMessageText(items))) : null;
  },

  calls(items, tool, message = readMessageText(items)) {
    const words = selectPages(message);
    return filterByType(items, "web_search_call").map((item) => {
      const call = parseSearch(item);
      const failed = hasFailed(call.status);
      return {
        ...identifyCall(item, tool),
        params: toSearchParams(call, readPattern(item)),
        output: failed ? null : createSearchResult([item], words),
        success: !failed,
        message: describeItem(item, call),
      };
    });
  },
};

function toWireFilters({ allowed = [], blocked = [] }: DomainFilter): WireWebSearch["filters"] {
  if (allowed.length === 0 && blocked.length === 0) return undefined;
  return omitUndefined({
    allowed_domains: allowed.length > 0 ? allowed : undefined,
    blocked_domains: blocked.length > 0 ? blocked : undefined,
  });
}

function toWireLocation({ countryCode, city, region, timezone }: GeoHint) {
  return {
    type: "approximate",
    ...omitUndefined({ country: countryCode, city, region, timezone }),
  } as const;
}

/** Keeps only URL citations; the others do not come from web search. */
function selectPages({ text, citations }: MessageText): MessageText {
  return { text, citations: citations.filter(({ type }) => type === "url") };
}

function createSearchResult(calls: readonly WireItem[], words: MessageText): WebSearchResult {
  const consulted = calls
    .flatMap((item) => readRecords(readRecord(item, "action"), "sources"))
    .map((source) => readString(source, "url")); // API sources have no URL
  return createWebSearchResult(words, { consulted, searches: calls.map(parseSearch) });
}

function parseSearch(item: WireItem): WebSearchCall {
  const action = readRecord(item, "action");
  const { type } = action;
  return {
    id: readString(item, "id"),
    action: type === "open_page" || type === "find_in_page" ? type : "search",
    queries: readQueries(action),
    url: readStringOrNull(action, "url"),
    status: readString(item, "status"),
  };
}

/** `query` is the older form, still sent with or without `queries`. */
function readQueries(action: WireItem): readonly string[] {
  const queries = readStrings(action, "queries");
  const query = readString(action, "query");
  return queries.length > 0 || query === "" ? queries : [query];
}

function readPattern(item: WireItem): string | null {
  return readStringOrNull(readRecord(item, "action"), "pattern");
}

function describeItem(item: WireItem, call: WebSearchCall): string {
  return hasFailed(call.status)
    ? describeFailure(call.status)
    : describeSearch(call, readPattern(item) ?? "");
}
