import { readStrings, type UnknownRecord } from "../../base/json.ts";
import { quoteNames } from "../../base/quote-value.ts";
import type { DomainFilter } from "../../tools/hosted/web-search.ts";

/** The list of the SDK's search: either the only domains to search, or the domains to exclude. */
export type DomainRule =
  | { readonly only: readonly string[] }
  /** Empty for the whole web. */
  | { readonly never: readonly string[] };

/** Converts a filter to one list; `null` if no list can express it. */
export function toDomainRule({ allowed = [], blocked = [] }: DomainFilter = {}): DomainRule | null {
  if (allowed.length === 0) return { never: blocked };
  const only = excludeDomains(allowed, blocked);
  return only.length === 0 || containsSome(only, blocked) ? null : { only };
}

/** Applies a rule to a search. The model's own lists can only narrow the rule. */
export function applyDomainRule(
  rule: DomainRule,
  input: UnknownRecord,
): { readonly input: UnknownRecord } | { readonly denied: string } {
  const { allowed_domains: _allowed, blocked_domains: _blocked, ...search } = input;
  const wanted = readStrings(input, "allowed_domains");
  const unwanted = readStrings(input, "blocked_domains");
  if ("only" in rule) {
    const both = wanted.length === 0 ? rule.only : intersectDomains(wanted, rule.only);
    const only = excludeDomains(both, unwanted);
    if (only.length > 0) return { input: { ...search, allowed_domains: only } };
    const remedy = "Search again without allowed_domains and blocked_domains.";
    return { denied: `Only ${quoteNames(rule.only)} may be searched. ${remedy}` };
  }
  const only = excludeDomains(wanted, rule.never);
  if (wanted.length > 0 && only.length === 0) {
    const remedy = "Search again without allowed_domains.";
    return { denied: `${quoteNames(wanted)} may not be searched. ${remedy}` };
  }
  if (only.length > 0 && !containsSome(only, rule.never)) {
    return { input: { ...search, allowed_domains: only } };
  }
  const never = [...new Set([...rule.never, ...unwanted])];
  return { input: never.length > 0 ? { ...search, blocked_domains: never } : search };
}

function excludeDomains(
  domains: readonly string[],
  excluded: readonly string[],
): readonly string[] {
  return domains.filter((domain) => !excluded.some((wider) => isDomainWithin(domain, wider)));
}

function containsSome(domains: readonly string[], others: readonly string[]): boolean {
  return others.some((other) => domains.some((domain) => isDomainWithin(other, domain)));
}

/** Lists the domains that are in both lists, each in its narrower form. */
function intersectDomains(wanted: readonly string[], rule: readonly string[]): readonly string[] {
  const narrower = wanted.filter((domain) => rule.some((wider) => isDomainWithin(domain, wider)));
  const wider = rule.filter((domain) => wanted.some((other) => isDomainWithin(domain, other)));
  return [...new Set([...narrower, ...wider])];
}

/** Whether a domain equals another domain, or is its subdomain or path. `false` for invalid domains. */
function isDomainWithin(domain: string, wider: string): boolean {
  const inner = parseDomain(domain);
  const outer = parseDomain(wider);
  if (inner === null || outer === null) return false;
  if (outer.path !== "") return inner.host === outer.host && inner.path.startsWith(outer.path);
  return inner.host === outer.host || inner.host.endsWith(`.${outer.host}`);
}

function parseDomain(domain: string): { readonly host: string; readonly path: string } | null {
  const [host = "", ...steps] = domain.toLowerCase().split("/");
  const path = steps.join("/");
  return /^[\p{L}\p{N}.-]+$/u.test(host) ? { host, path } : null;
}
