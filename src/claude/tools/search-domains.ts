import { textsAt } from "../../base/reading.ts";
import { list } from "../../base/show.ts";
import type { DomainFilter } from "../../tools/hosted/web-search.ts";
import type { Given } from "../given.ts";

/** The one list that a search of the SDK takes: what alone counts, or what never does. */
export type DomainRule =
  | { readonly only: readonly string[] }
  /** Empty for the whole web. */
  | { readonly never: readonly string[] };

/** The filter as one list; `null` if that cannot be: something is blocked within what is allowed. */
export function domainRule({ allowed = [], blocked = [] }: DomainFilter = {}): DomainRule | null {
  if (allowed.length === 0) return { never: blocked };
  const only = without(allowed, blocked);
  return only.length === 0 || holdsSomeOf(only, blocked) ? null : { only };
}

/** The search with the rule kept. The model's own lists count as far as they narrow it. */
export function keptToDomains(
  rule: DomainRule,
  input: Given,
): { readonly input: Given } | { readonly denied: string } {
  const { allowed_domains: _allowed, blocked_domains: _blocked, ...search } = input;
  const wanted = textsAt(input, "allowed_domains");
  const unwanted = textsAt(input, "blocked_domains");
  if ("only" in rule) {
    const both = wanted.length === 0 ? rule.only : common(wanted, rule.only);
    const only = without(both, unwanted);
    if (only.length > 0) return { input: { ...search, allowed_domains: only } };
    const remedy = "search again without allowed_domains and blocked_domains";
    return { denied: `Only ${list(rule.only)} may be searched: ${remedy}` };
  }
  const only = without(wanted, rule.never);
  if (wanted.length > 0 && only.length === 0) {
    const remedy = "search again without allowed_domains";
    return { denied: `None of ${list(wanted)} may be searched: ${remedy}` };
  }
  if (only.length > 0 && !holdsSomeOf(only, rule.never)) {
    return { input: { ...search, allowed_domains: only } };
  }
  const never = [...new Set([...rule.never, ...unwanted])];
  return { input: never.length > 0 ? { ...search, blocked_domains: never } : search };
}

function without(domains: readonly string[], out: readonly string[]): readonly string[] {
  return domains.filter((domain) => !out.some((wider) => isWithin(domain, wider)));
}

function holdsSomeOf(domains: readonly string[], others: readonly string[]): boolean {
  return others.some((other) => domains.some((domain) => isWithin(other, domain)));
}

/** What is in both lists, as the narrower of the two says it. */
function common(wanted: readonly string[], rule: readonly string[]): readonly string[] {
  const narrower = wanted.filter((domain) => rule.some((wider) => isWithin(domain, wider)));
  const wider = rule.filter((domain) => wanted.some((other) => isWithin(domain, other)));
  return [...new Set([...narrower, ...wider])];
}

/** Subdomains count as within, and so does a path. What is no domain is within nothing. */
function isWithin(domain: string, wider: string): boolean {
  const inner = parts(domain);
  const outer = parts(wider);
  if (inner === null || outer === null) return false;
  if (outer.path !== "") return inner.host === outer.host && inner.path.startsWith(outer.path);
  return inner.host === outer.host || inner.host.endsWith(`.${outer.host}`);
}

function parts(domain: string): { readonly host: string; readonly path: string } | null {
  const [host = "", ...steps] = domain.toLowerCase().split("/");
  const path = steps.join("/");
  return /^[\p{L}\p{N}.-]+$/u.test(host) ? { host, path } : null;
}
