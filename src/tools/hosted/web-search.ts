import { checkKnownKeys, PromptValidationError } from "../../base/errors.ts";
import {
  arrayCheck,
  checkBoolean,
  checkKeys,
  checkSingleLine,
  enumCheck,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import type { Citation } from "./citation.ts";
import { countryCodes } from "./countries.ts";
import { checkHostName } from "./host-name.ts";

/**
 * Limits searches to some sites, including their subdomains. Use bare host names such as
 * `"cdc.gov"`, without a scheme.
 */
export interface DomainFilter {
  /** Sites to search, at most 100. @default every site */
  readonly allowed?: readonly string[] | undefined;
  /** Sites to exclude, at most 100. None may be in `allowed`. */
  readonly blocked?: readonly string[] | undefined;
}

/** Approximate location of the user. Omitted parts are not sent. */
export interface GeoHint {
  /** ISO 3166-1 alpha-2 code in capitals, such as `"GB"`. */
  readonly countryCode?: string | undefined;
  /** City in free text. */
  readonly city?: string | undefined;
  /** Region or state in free text. */
  readonly region?: string | undefined;
  /** IANA time zone, such as `"Europe/London"`. */
  readonly timezone?: string | undefined;
}

/** Settings of {@link webSearchTool}. */
export interface WebSearchConfig {
  /** Limits searches to some sites. */
  readonly domainFilter?: DomainFilter | undefined;
  /** Approximate location of the user. */
  readonly geoHint?: GeoHint | undefined;
  /**
   * Whether pages may be fetched live. `false` searches the provider's index only. @default true
   */
  readonly allowLiveAccess?: boolean | undefined;
  /** How much of the context window search results may use. @default the provider's choice */
  readonly searchContextSize?: "low" | "medium" | "high" | undefined;
}

/** The outcome of all web searches of an evaluation. */
export interface WebSearchResult {
  /** The model's answer. */
  readonly text: string;
  /** Citations in the model's answer. */
  readonly citations: readonly Citation[];
  /** URLs of all consulted pages, cited or not. */
  readonly sourceUrls: readonly string[];
  /** Every call, in order. */
  readonly searches: readonly WebSearchCall[];
}

/** One web search, opened page or search within a page. */
export interface WebSearchCall {
  /** Provider's id of the call. */
  readonly id: string;
  /** Kind of call. */
  readonly action: "search" | "open_page" | "find_in_page";
  /** Search queries; empty for pages. */
  readonly queries: readonly string[];
  /** URL of the page; `null` for a search. */
  readonly url: string | null;
  /** The provider's status of the call. */
  readonly status: string;
}

/** Creates a tool that lets the model search the web. */
export function webSearchTool(
  config: WebSearchConfig = {},
  options: { readonly name?: string | undefined } = {},
): HostedTool<WebSearchConfig, WebSearchResult> {
  checkKnownKeys(options, "webSearchTool(options)", { name: true }, PromptValidationError);
  const { name = "web_search" } = options;
  checkKeys<WebSearchConfig>(config, "webSearchTool(config)", {
    domainFilter: optional(checkDomainFilter),
    geoHint: optional(checkGeoHint),
    allowLiveAccess: optional(checkBoolean),
    searchContextSize: optional(enumCheck(["low", "medium", "high"])),
  });
  rejectConflict(config.domainFilter, "webSearchTool(config).domainFilter");
  return markChecked(
    new HostedTool({
      kind: "web_search",
      name,
      description: "Search the web for current information and cite sources.",
      config,
    }),
  );
}

function checkDomainFilter(filter: unknown, field: string): void {
  const domains = optional(arrayCheck(checkHostName, { most: 100 }));
  checkKeys<DomainFilter>(filter, field, { allowed: domains, blocked: domains });
}

function rejectConflict({ allowed = [], blocked = [] }: DomainFilter = {}, field: string): void {
  const wanted = new Set(allowed.map((domain) => domain.toLowerCase()));
  for (const [index, value] of blocked.entries()) {
    if (!wanted.has(value.toLowerCase())) continue;
    throw new PromptValidationError({
      field: `${field}.blocked[${index}]`,
      value,
      rule: "must not also be in allowed",
      remedy: "remove it from allowed or blocked",
    });
  }
}

function checkGeoHint(hint: unknown, field: string): void {
  checkKeys<GeoHint>(hint, field, {
    countryCode: optional(checkCountryCode),
    city: optional(checkSingleLine),
    region: optional(checkSingleLine),
    timezone: optional(checkTimeZone),
  });
}

function checkCountryCode(value: unknown, field: string): void {
  if (typeof value === "string" && countryCodes.has(value)) return;
  const capitals = typeof value === "string" ? value.trim().toUpperCase() : "";
  const meant = capitals === "UK" ? "GB" : capitals;
  throw new PromptValidationError({
    field,
    value,
    rule: "must be an ISO 3166-1 alpha-2 country code in capitals",
    remedy: countryCodes.has(meant) ? `use "${meant}"` : 'use a code such as "US", or omit it',
  });
}

function checkTimeZone(value: unknown, field: string): void {
  if (typeof value === "string" && isTimeZone(value)) return;
  const rule = "must be an IANA time zone name";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: 'use a name such as "Europe/London"',
  });
}

/**
 * Returns whether `name` is an IANA time zone. `Intl` also accepts offsets and ICU abbreviations,
 * which are rejected here.
 */
function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name) || /^SystemV\//i.test(name)) return false;
  if (/^[a-z]{3}$/i.test(name) && !shortNames.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false; // Intl throws a RangeError for an unknown zone
  }
}

const shortNames = /^(?:CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$/i;
