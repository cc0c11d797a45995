import { describe, expect, test } from "vitest";
import { OpenAIWebSearchSection } from "./web-search-section.ts";

describe("OpenAI's web search section", () => {
  test("searches the live web as it likes, unless told otherwise", () => {
    const section = new OpenAIWebSearchSection();
    expect(section.defaultParams).toEqual({ allowLiveAccess: true });
    expect(section.tool.config).toEqual({});
  });

  test("takes what the tool takes", () => {
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

  test("is cloned with what it was given, or with something else", () => {
    const allowed = ["cdc.gov"];
    const section = new OpenAIWebSearchSection({ defaultParams: { domainFilter: { allowed } } });
    allowed.push("who.int");
    expect(section.clone().tool.config).toEqual({ domainFilter: { allowed: ["cdc.gov"] } });
    const clone = section.clone({ defaultParams: { searchContextSize: "high" } });
    expect(clone.defaultParams).toEqual({ allowLiveAccess: true, searchContextSize: "high" });
  });

  test("is refused for a model without it", () => {
    expect(() => new OpenAIWebSearchSection({ model: "gpt-4.1-nano" })).toThrow(
      'Section "openai_web_search" model must be a model that can run "web_search", got ' +
        '"gpt-4.1-nano": the model "gpt-4.1-nano" (listed as "gpt-4.1-nano") can run',
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
])("default params of a web search are refused as %o", (defaultParams, place, says) => {
  const make = () => new OpenAIWebSearchSection({ key: "news", defaultParams } as never);
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field: `Section "news" defaultParams${place}`,
    message: expect.stringContaining(says),
  });
  expect(make).toThrow(refusal);
});
