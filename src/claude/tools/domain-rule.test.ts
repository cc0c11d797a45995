import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DomainFilter } from "../../tools/hosted/web-search.ts";
import { applyDomainRule, type DomainRule, toDomainRule } from "./domain-rule.ts";

describe("toDomainRule()", () => {
  test.each<readonly [DomainFilter | undefined, DomainRule]>([
    [undefined, { never: [] }],
    [{}, { never: [] }],
    [{ allowed: [] }, { never: [] }],
    [{ blocked: ["x.com"] }, { never: ["x.com"] }],
    [{ allowed: ["cdc.gov"] }, { only: ["cdc.gov"] }],
    [{ allowed: ["cdc.gov"], blocked: ["x.com"] }, { only: ["cdc.gov"] }],
    [{ allowed: ["a.cdc.gov", "who.int"], blocked: ["cdc.gov"] }, { only: ["who.int"] }],
  ])("converts %j to one list", (filter, rule) => {
    expect(toDomainRule(filter)).toEqual(rule);
  });

  test.each<DomainFilter>([
    { allowed: ["cdc.gov"], blocked: ["flu.cdc.gov"] },
    { allowed: ["CDC.gov"], blocked: ["flu.cdc.GOV"] },
    { allowed: ["a.cdc.gov"], blocked: ["cdc.gov"] },
  ])("returns null for %j, which needs two lists", (filter) => {
    expect(toDomainRule(filter)).toBeNull();
  });
});

describe("applyDomainRule()", () => {
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
  ])("with the rule %j converts %j to %j", (rule, lists, result) => {
    expect(applyDomainRule(rule, { query: "flu", ...lists })).toEqual({
      input: { query: "flu", ...result },
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
  ])("denies a domain outside the rule: %j", (domain) => {
    expect(applyDomainRule(only, { query: "flu", allowed_domains: [domain] })).toEqual({
      denied:
        'Only "cdc.gov", "who.int" may be searched. Search again without allowed_domains and blocked_domains.',
    });
  });

  test("denies a search that blocks all allowed domains, or requests only excluded ones", () => {
    const all = { query: "flu", blocked_domains: ["cdc.gov", "int"] };
    expect(applyDomainRule(only, all)).toHaveProperty("denied");
    expect(applyDomainRule(never, { query: "flu", allowed_domains: ["a.x.com"] })).toEqual({
      denied: '"a.x.com" may not be searched. Search again without allowed_domains.',
    });
  });

  test("never returns both lists, and never widens the rule", () => {
    const domains = fc.array(
      fc.constantFrom("a.com", "b.a.com", "c.b.a.com", "x.com", "com", "a.com/p", "/", "é.x.com"),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(domains, domains, domains, fc.boolean(), (listed, wanted, unwanted, isOnly) => {
        const rule = isOnly && listed.length > 0 ? { only: listed } : { never: listed };
        const input = { allowed_domains: wanted, blocked_domains: unwanted };
        const verdict = applyDomainRule(rule, input);
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
