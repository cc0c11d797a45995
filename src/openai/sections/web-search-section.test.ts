import { describe, expect, test } from "vitest";
import { OpenAIWebSearchSection } from "./web-search-section.ts";

describe("OpenAIWebSearchSection", () => {
  test("searches the live web by default", () => {
    const section = new OpenAIWebSearchSection();
    expect(section.defaultParams).toEqual({ allowLiveAccess: true });
    expect(section.tool.config).toEqual({});
  });

  test("passes its params to the tool", () => {
    const defaultParams = {
      domainFilter: { allowed: ["cdc.gov"] },
      geoHint: { countryCode: "GB" },
      allowLiveAccess: false,
      searchContextSize: "low",
    } as const;
    const section = new OpenAIWebSearchSection({ defaultParams });
    expect(section.defaultParams).toEqual(defaultParams);
    expect(section.tool.config).toEqual(defaultParams);
    expect(Object.isFrozen(section.defaultParams.domainFilter?.allowed)).toBe(true);
  });

  test("clones with the same or other params", () => {
    const allowed = ["cdc.gov"];
    const section = new OpenAIWebSearchSection({ defaultParams: { domainFilter: { allowed } } });
    allowed.push("who.int");
    expect(section.clone().tool.config).toEqual({ domainFilter: { allowed: ["cdc.gov"] } });
    const clone = section.clone({ defaultParams: { searchContextSize: "high" } });
    expect(clone.defaultParams).toEqual({ allowLiveAccess: true, searchContextSize: "high" });
  });

  test("rejects a model without web search", () => {
    expect(() => new OpenAIWebSearchSection({ model: "gpt-4.1-nano" })).toThrow(
      'Section "openai_web_search" model must be a model that can run "web_search", got ' +
        '"gpt-4.1-nano". The model "gpt-4.1-nano" (listed as "gpt-4.1-nano") supports',
    );
  });
});

test.each<[unknown, string, string]>([
  [null, "", "must be a plain object, got null"],
  [{ domains: [] }, " key", "must be one of"],
  [{ geoHint: { countryCode: "UK" } }, ".geoHint.countryCode", 'got "UK". Use "GB"'],
  [
    { domainFilter: { allowed: ["a.com"], blocked: ["A.com"] } },
    ".domainFilter.blocked[0]",
    "must not also be in allowed",
  ],
  [{ allowLiveAccess: "no" }, ".allowLiveAccess", "must be a boolean"],
])("OpenAIWebSearchSection rejects the default params %o", (defaultParams, place, says) => {
  const create = () => new OpenAIWebSearchSection({ key: "news", defaultParams } as never);
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field: `Section "news" defaultParams${place}`,
    message: expect.stringContaining(says),
  });
  expect(create).toThrow(refusal);
});
