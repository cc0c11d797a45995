import { isPlainObject } from "../../base/freeze.ts";
import { readRecords, readString, type UnknownRecord } from "../../base/json.ts";
import {
  type WebSearchCall,
  type WebSearchResult,
  webSearchTool,
} from "../../tools/hosted/web-search.ts";
import {
  createWebSearchResult,
  describeSearch,
  toSearchParams,
} from "../../tools/hosted/web-search-result.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { Verdict } from "../workspace/bounds.ts";
import { applyDomainRule, toDomainRule } from "./domain-rule.ts";
import { findCitations, type Page } from "./find-citations.ts";
import type { CallLog, HostedKind, JudgedUse, NativeTool, Obstacle } from "./hosted-kind.ts";

/** The kind `web_search`: the SDK's `WebSearch`, which supports only domain lists. */
export const searchKind: HostedKind = {
  kind: "web_search",
  createdBy: "`webSearchTool`",
  tools: ["WebSearch"],
  behavior:
    "typed output and citations, as on other providers; `domainFilter` always applies, and the model can only narrow it",
  unsupported:
    '`allowLiveAccess: false`; a `domainFilter` that blocks part of an allowed domain; `geoHint` and `searchContextSize` (`"omit"` drops only the setting)',
  findObstacles: findSearchObstacles,
};

/** Controls the SDK's `WebSearch`. */
export const nativeWebSearch: NativeTool = {
  name: "WebSearch",
  isReadOnly: true,
  needsWorkspace: false,
  judge: judgeSearch,
  createLog: () => new WebSearchLog(),
};

/** Collects the web searches of one evaluation. */
export class WebSearchLog implements CallLog {
  readonly #searches = new Map<string, Search>();

  add(
    id: string,
    input: UnknownRecord,
    { response, error }: { response: unknown; error: string | null },
  ) {
    const found: UnknownRecord = isPlainObject(response) ? response : {};
    const problem = error ?? readProblem(found);
    const query = readString(input, "query") || readString(found, "query");
    const status = problem === null ? "completed" : "failed";
    const queries = query === "" ? [] : [query];
    const call = { id, action: "search", queries, url: null, status } as const;
    const search = { call, pages: readPages(found) };
    this.#searches.set(id, search);
    return {
      params: toSearchParams(call),
      output: problem === null ? toSearchResult([search], "") : null,
      success: problem === null,
      message: problem ?? describeSearch(call),
    };
  }

  toResult(text: string): WebSearchResult | null {
    return this.#searches.size === 0 ? null : toSearchResult([...this.#searches.values()], text);
  }
}

interface Search {
  readonly call: WebSearchCall;
  readonly pages: readonly Page[];
}

function findSearchObstacles(tool: HostedTool): readonly (Obstacle | false)[] {
  const { config } = checkWithFactory(tool, () => webSearchTool(tool.config));
  const { domainFilter, geoHint, allowLiveAccess, searchContextSize } = config;
  const field = `Hosted tool "${tool.name}" config`;
  const hasGeoHint = Object.values(geoHint ?? {}).some((part) => part !== undefined);
  return [
    toDomainRule(domainFilter) === null && {
      field: `${field}.domainFilter`,
      value: domainFilter,
      rule: "must not block part of an allowed domain on Claude, which accepts only one list",
      remedy: "pass either allowed or blocked",
    },
    allowLiveAccess === false && {
      field: `${field}.allowLiveAccess`,
      value: allowLiveAccess,
      rule: "must not be false on Claude, which always searches the live web",
      remedy: 'omit it, or set unsupportedHostedTools: "omit" to run without the tool',
    },
    hasGeoHint && {
      field: `${field}.geoHint`,
      value: geoHint,
      rule: "must be omitted on Claude, whose search has no location setting",
      remedy:
        'name the place in the prompt, or set unsupportedHostedTools: "omit" to drop the setting',
      isDroppable: true,
    },
    searchContextSize !== undefined && {
      field: `${field}.searchContextSize`,
      value: searchContextSize,
      rule: "must be omitted on Claude, which chooses the size itself",
      remedy: 'omit it, or set unsupportedHostedTools: "omit" to drop the setting',
      isDroppable: true,
    },
  ];
}

function judgeSearch({ owner, input }: JudgedUse): Verdict {
  const { config } = checkWithFactory(owner, () => webSearchTool(owner.config));
  const rule = toDomainRule(config.domainFilter);
  if (rule === null)
    return { denied: "Web search is not available: the allowed and blocked domains conflict" };
  return applyDomainRule(rule, input);
}

function toSearchResult(searches: readonly Search[], text: string): WebSearchResult {
  const pages = searches.flatMap((search) => search.pages);
  const consulted = pages.map(({ url }) => url);
  const calls = searches.map(({ call }) => call);
  const answer = { text, citations: findCitations(text, pages) };
  return createWebSearchResult(answer, { consulted, searches: calls });
}

/** Reads the pages found. `results` contains both texts of the search model and objects with pages. */
function readPages(found: UnknownRecord): readonly Page[] {
  return readRecords(found, "results")
    .flatMap((result) => readRecords(result, "content"))
    .map((page) => ({ url: readString(page, "url"), title: readString(page, "title") }))
    .filter(({ url }) => url !== "");
}

/** Reads the error of a failed search, which the SDK reports as a text. `null` if pages were found. */
function readProblem(found: UnknownRecord): string | null {
  const { results } = found;
  const texts = Array.isArray(results) ? results.filter((one) => typeof one === "string") : [];
  if (readRecords(found, "results").length > 0) return null;
  return texts.find((text) => text.startsWith("Web search error: ")) ?? null;
}
