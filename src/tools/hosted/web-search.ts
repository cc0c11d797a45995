import { PromptValidationError } from "../../base/errors.ts";
import { checkBoolean, checkKeys, checkText, listOf, oneOf, optional } from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import type { Citation } from "./citation.ts";
import { countryCodes } from "./countries.ts";
import { checkHostName } from "./host-name.ts";

/** Which sites may be searched, subdomains included. Bare host names: `"cdc.gov"`, no scheme. */
export interface DomainFilter {
  /** At most 100. @default every site */
  readonly allowed?: readonly string[] | undefined;
  /** At most 100, none of them in `allowed`. */
  readonly blocked?: readonly string[] | undefined;
}

/** Roughly where the user is; what is left out is not said. */
export interface GeoHint {
  /** ISO 3166-1 alpha-2, in capitals: `"GB"`. */
  readonly countryCode?: string | undefined;
  readonly city?: string | undefined;
  readonly region?: string | undefined;
  /** An IANA name: `"Europe/London"`. */
  readonly timezone?: string | undefined;
}

/** Where and how the web is searched. */
export interface WebSearchConfig {
  readonly domainFilter?: DomainFilter | undefined;
  readonly geoHint?: GeoHint | undefined;
  /** `false`: only what the provider has in its index. @default true */
  readonly allowLiveAccess?: boolean | undefined;
  /** How much of the context window what is found may take. @default the provider's choice */
  readonly searchContextSize?: "low" | "medium" | "high" | undefined;
}

/** What all searches of an evaluation found. */
export interface WebSearchResult {
  /** What the model said. */
  readonly text: string;
  readonly citations: readonly Citation[];
  /** Every address that was consulted, cited or not. */
  readonly sourceUrls: readonly string[];
  readonly searches: readonly WebSearchCall[];
}

/** One thing the model did on the web. */
export interface WebSearchCall {
  readonly id: string;
  readonly action: "search" | "open_page" | "find_in_page";
  readonly queries: readonly string[];
  /** The page; `null` for a search. */
  readonly url: string | null;
  /** In the provider's word. */
  readonly status: string;
}

/** A tool by which the model searches the web. */
export function webSearchTool(
  config: WebSearchConfig = {},
  { name = "web_search" }: { readonly name?: string | undefined } = {},
): HostedTool<WebSearchConfig, WebSearchResult> {
  checkKeys<WebSearchConfig>(config, "webSearchTool(config)", {
    domainFilter: optional(checkDomainFilter),
    geoHint: optional(checkGeoHint),
    allowLiveAccess: optional(checkBoolean),
    searchContextSize: optional(oneOf(["low", "medium", "high"])),
  });
  refuseContradiction(config.domainFilter, "webSearchTool(config).domainFilter");
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
  const domains = optional(listOf(checkHostName, { most: 100 }));
  checkKeys<DomainFilter>(filter, field, { allowed: domains, blocked: domains });
}

function refuseContradiction(
  { allowed = [], blocked = [] }: DomainFilter = {},
  field: string,
): void {
  const wanted = new Set(allowed.map((domain) => domain.toLowerCase()));
  for (const [index, value] of blocked.entries()) {
    if (!wanted.has(value.toLowerCase())) continue;
    throw new PromptValidationError({
      field: `${field}.blocked[${index}]`,
      value,
      rule: "must not be allowed as well",
      remedy: "keep it in one of the two lists",
    });
  }
}

function checkGeoHint(hint: unknown, field: string): void {
  checkKeys<GeoHint>(hint, field, {
    countryCode: optional(checkCountryCode),
    city: optional(checkText),
    region: optional(checkText),
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
    rule: "must be a country code of ISO 3166-1 alpha-2, in capitals",
    remedy: countryCodes.has(meant) ? `write "${meant}"` : 'write one like "US", or leave it out',
  });
}

function checkTimeZone(value: unknown, field: string): void {
  if (typeof value === "string" && isTimeZone(value)) return;
  const rule = "must be the IANA name of a time zone";
  throw new PromptValidationError({ field, value, rule, remedy: 'write one like "Europe/London"' });
}

/** `Intl` takes offsets and the abbreviations of its ICU library too, which are no IANA names. */
function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name) || /^SystemV\//i.test(name)) return false;
  if (/^[a-z]{3}$/i.test(name) && !shortNames.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false; // a RangeError is how Intl says that it knows no such zone
  }
}

const shortNames = /^(?:CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$/i;
