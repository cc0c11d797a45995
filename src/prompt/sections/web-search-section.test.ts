import { describe, expect, test } from "vitest";
import { PromptValidationError, WinkError } from "../../base/errors.ts";
import { Prompt } from "../prompt.ts";
import { PromptTemplate } from "../template.ts";
import { WebSearchSection } from "./web-search-section.ts";

const getConfig = (section: WebSearchSection) => section.hostedTools()[0]?.config;

describe("WebSearchSection", () => {
  test("has the tool and explains when to use it", () => {
    const sections = [new WebSearchSection({ searchContextSize: "low" })];
    const rendered = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections })).render();
    expect(rendered.text).toMatch(/^## 1\. Web Search \(web_search\)\n\nSearch the web when /);
    expect(rendered.hostedTools).toMatchObject([
      { kind: "web_search", name: "web_search", config: { searchContextSize: "low" } },
    ]);
    expect(rendered.tools).toEqual([]);
  });

  test("has no limits by default", () => {
    const section = new WebSearchSection();
    expect(section.key).toBe("web_search");
    expect(getConfig(section)).toEqual({});
  });

  test("accepts another key", () => {
    expect(new WebSearchSection({}, { key: "news" }).key).toBe("news");
  });

  test("accepts a domain filter and a location", () => {
    const config = {
      domainFilter: { allowed: ["cdc.gov"] },
      geoHint: { countryCode: "GB", city: "London", timezone: "Europe/London" },
    };
    expect(getConfig(new WebSearchSection(config))).toEqual(config);
  });

  test("rejects an invalid config", () => {
    const make = () => new WebSearchSection({ geoHint: { countryCode: "UK" } });
    expect(make).toThrow(PromptValidationError);
  });
});

describe("a clone of a WebSearchSection", () => {
  test("keeps the config and the key", () => {
    const section = new WebSearchSection({ allowLiveAccess: false }, { key: "news" });
    const clone = section.clone();
    expect(clone).not.toBe(section);
    expect(clone).toBeInstanceOf(WebSearchSection);
    expect(clone.key).toBe("news");
    expect(getConfig(clone)).toEqual({ allowLiveAccess: false });
  });

  test("accepts another key", () => {
    expect(new WebSearchSection().clone({ key: "other" }).key).toBe("other");
  });

  test("uses the original config, even if the caller changed it since", () => {
    const allowed = ["cdc.gov"];
    const section = new WebSearchSection({ domainFilter: { allowed } });
    allowed.push("who.int");
    expect(getConfig(section.clone())).toEqual({ domainFilter: { allowed: ["cdc.gov"] } });
  });

  test("of a subclass must be created by the subclass", () => {
    class News extends WebSearchSection {}
    expect(() => new News().clone()).toThrow(WinkError);
    expect(() => new News().clone()).toThrow("News cannot be cloned");
  });
});
