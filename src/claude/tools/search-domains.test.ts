import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DomainFilter } from "../../tools/hosted/web-search.ts";
import { type DomainRule, keepToDomains, toDomainRule } from "./search-domains.ts";

describe("a filter", () => {
  test.each<readonly [DomainFilter | undefined, DomainRule]>([
    [undefined, { never: [] }],
    [{}, { never: [] }],
    [{ allowed: [] }, { never: [] }],
    [{ blocked: ["x.com"] }, { never: ["x.com"] }],
    [{ allowed: ["cdc.gov"] }, { only: ["cdc.gov"] }],
    [{ allowed: ["cdc.gov"], blocked: ["x.com"] }, { only: ["cdc.gov"] }],
    [{ allowed: ["a.cdc.gov", "who.int"], blocked: ["cdc.gov"] }, { only: ["who.int"] }],
  ])("%j is one list", (filter, rule) => {
    expect(toDomainRule(filter)).toEqual(rule);
  });

  test.each<DomainFilter>([
    { allowed: ["cdc.gov"], blocked: ["flu.cdc.gov"] },
    { allowed: ["CDC.gov"], blocked: ["flu.cdc.GOV"] },
    { allowed: ["a.cdc.gov"], blocked: ["cdc.gov"] },
  ])("%j would need two", (filter) => {
    expect(toDomainRule(filter)).toBeNull();
  });
});

describe("of a search the lists", () => {
  const only = { only: ["cdc.gov", "who.int"] };
  const never = { never: ["x.com"] };

  test.each<readonly [DomainRule, object, object]>([
    [{ never: [] }, {}, {}],
    [{ never: [] }, { allowed_domains: ["a.com"] }, { allowed_domains: ["a.com"] }],
    [{ never: [] }, { blocked_domains: ["a.com"] }, { blocked_domains: ["a.com"] }],
    [{ never: [] }, { allowed_domains: [], blocked_domains: [] }, {}],
    [never, {}, { blocked_domains: ["x.com"] }],
    [never, { blocked_domains: ["a.com", "x.com"] }, { blocked_domains: ["x.com", "a.com"] }],
    [never, { allowed_domains: ["a.com", "y.x.com"] }, { allowed_domains: ["a.com"] }],
    [{ never: ["b.a.com"] }, { allowed_domains: ["a.com"] }, { blocked_domains: ["b.a.com"] }],
    [only, {}, { allowed_domains: ["cdc.gov", "who.int"] }],
    [only, { allowed_domains: ["flu.CDC.gov"] }, { allowed_domains: ["flu.CDC.gov"] }],
    [only, { allowed_domains: ["cdc.gov/flu"] }, { allowed_domains: ["cdc.gov/flu"] }],
    [only, { allowed_domains: ["gov"] }, { allowed_domains: ["cdc.gov"] }],
    [only, { allowed_domains: ["who.int", "evil.com"] }, { allowed_domains: ["who.int"] }],
    [only, { blocked_domains: ["who.int"] }, { allowed_domains: ["cdc.gov"] }],
    [only, { blocked_domains: ["a.who.int"] }, { allowed_domains: ["cdc.gov", "who.int"] }],
    [only, { blocked_domains: ["cdc.gov/flu"] }, { allowed_domains: ["cdc.gov", "who.int"] }],
    [only, { allowed_domains: "cdc.gov" }, { allowed_domains: ["cdc.gov", "who.int"] }],
  ])("under %j with %j are %j", (rule, given, kept) => {
    expect(keepToDomains(rule, { query: "flu", ...given })).toEqual({
      input: { query: "flu", ...kept },
    });
  });

  test.each([
    "evil.com",
    "evil.com/cdc.gov",
    "cdc.gov@evil.com",
    "https://cdc.gov",
    "notcdc.gov",
    "cdc.gov.evil.com",
    "cdc.gov:8080",
    "evil.com\\.cdc.gov",
    "*.cdc.gov",
    "",
  ])("cannot name what the filter does not: %j", (domain) => {
    expect(keepToDomains(only, { query: "flu", allowed_domains: [domain] })).toEqual({
      denied:
        'Only "cdc.gov", "who.int" may be searched: search again without allowed_domains and blocked_domains',
    });
  });

  test("cannot block all that may be searched, nor ask for what may not", () => {
    const all = { query: "flu", blocked_domains: ["cdc.gov", "int"] };
    expect(keepToDomains(only, all)).toHaveProperty("denied");
    expect(keepToDomains(never, { query: "flu", allowed_domains: ["a.x.com"] })).toEqual({
      denied: 'None of "a.x.com" may be searched: search again without allowed_domains',
    });
  });

  test("are never both there, and never wider than the rule", () => {
    const domains = fc.array(
      fc.constantFrom("a.com", "b.a.com", "c.b.a.com", "x.com", "com", "a.com/p", "/", "é.x.com"),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(domains, domains, domains, fc.boolean(), (listed, wanted, unwanted, isOnly) => {
        const rule = isOnly && listed.length > 0 ? { only: listed } : { never: listed };
        const input = { allowed_domains: wanted, blocked_domains: unwanted };
        const verdict = keepToDomains(rule, input);
        if ("denied" in verdict) return;
        const { allowed_domains: allowed, blocked_domains: blocked } = verdict.input;
        expect(allowed === undefined || blocked === undefined).toBe(true);
        if ("only" in rule) expect(allowed).not.toEqual([]);
        if ("only" in rule) expect(blocked).toBeUndefined();
        else if (allowed === undefined)
          expect(blocked ?? []).toEqual(expect.arrayContaining(listed));
      }),
    );
  });
});
