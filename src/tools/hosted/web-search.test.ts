import { describe, expect, test } from "vitest";
import { type WebSearchConfig, webSearchTool } from "./web-search.ts";

const make = (config: unknown): unknown => Reflect.apply(webSearchTool, undefined, [config]);
const refusal = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });
const domains = (count: number) => Array.from({ length: count }, (_, index) => `site${index}.org`);

const complete = (): WebSearchConfig => ({
  domainFilter: { allowed: ["who.int"], blocked: ["example.com"] },
  geoHint: { countryCode: "GB", city: "London", region: "England", timezone: "Europe/London" },
  allowLiveAccess: false,
  searchContextSize: "low",
});

describe("webSearchTool", () => {
  test("searches the web with no config at all", () => {
    expect(webSearchTool()).toMatchObject({
      kind: "web_search",
      name: "web_search",
      description: "Search the web for current information and cite sources.",
      config: {},
      provider: null,
    });
  });

  test("may go by another name", () => {
    expect(webSearchTool({}, { name: "cached_search" }).name).toBe("cached_search");
    expect(() => webSearchTool({}, { name: "Cached Search" })).toThrow(
      refusal({ field: "HostedTool.name" }),
    );
  });

  test("keeps a frozen copy of its config, and leaves the caller's alone", () => {
    const config = complete();
    const { config: kept } = webSearchTool(config);
    expect(kept).toEqual(config);
    expect(kept).not.toBe(config);
    for (const part of [kept, kept.domainFilter, kept.domainFilter?.allowed, kept.geoHint]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(config).toEqual(complete());
    expect(Object.isFrozen(config)).toBe(false);
    expect(Object.isFrozen(config.domainFilter?.allowed)).toBe(false);
  });
});

test.each<WebSearchConfig>([
  {},
  complete(),
  { domainFilter: undefined, geoHint: undefined, allowLiveAccess: undefined },
  { domainFilter: {}, geoHint: {} },
  { domainFilter: { allowed: [], blocked: [] } },
  { domainFilter: { allowed: ["CDC.gov", "xn--mnchen-3ya.de"] } },
  { geoHint: { countryCode: "AX" } },
  { geoHint: { timezone: "UTC" } },
  { geoHint: { timezone: "Etc/GMT+1" } },
  { geoHint: { timezone: "EST" } },
  { geoHint: { timezone: "America/Argentina/Buenos_Aires" } },
  { geoHint: { city: "São Paulo", region: "São Paulo" } },
  { searchContextSize: "medium" },
  { searchContextSize: "high", allowLiveAccess: true },
])("%j is a config", (config) => {
  expect(() => webSearchTool(config)).not.toThrow();
});

test.each([
  [null, "", null],
  [[], "", []],
  [{ domainFilter: ["who.int"] }, ".domainFilter", ["who.int"]],
  [{ domainFilter: null }, ".domainFilter", null],
  [{ domainFilter: { allowed: "who.int" } }, ".domainFilter.allowed", "who.int"],
  [{ domainFilter: { allowed: ["https://a.com"] } }, ".domainFilter.allowed[0]", "https://a.com"],
  [{ domainFilter: { blocked: ["a.com", "*.b.com"] } }, ".domainFilter.blocked[1]", "*.b.com"],
  [{ domainFilter: { blocked: ["a.com/b"] } }, ".domainFilter.blocked[0]", "a.com/b"],
  [{ domainFilter: { blocked: ["a.com:80"] } }, ".domainFilter.blocked[0]", "a.com:80"],
  [{ domainFilter: { blocked: ["a b.com"] } }, ".domainFilter.blocked[0]", "a b.com"],
  [{ domainFilter: { blocked: ["localhost"] } }, ".domainFilter.blocked[0]", "localhost"],
  [{ domainFilter: { blocked: ["münchen.de"] } }, ".domainFilter.blocked[0]", "münchen.de"],
  [
    { domainFilter: { allowed: ["who.int"], blocked: ["a.com", "WHO.int"] } },
    ".domainFilter.blocked[1]",
    "WHO.int",
  ],
  [{ geoHint: "GB" }, ".geoHint", "GB"],
  [{ geoHint: { countryCode: 44 } }, ".geoHint.countryCode", 44],
  [{ geoHint: { city: " " } }, ".geoHint.city", " "],
  [{ geoHint: { city: "Lon\ndon" } }, ".geoHint.city", "Lon\ndon"],
  [{ geoHint: { region: "" } }, ".geoHint.region", ""],
  [{ geoHint: { region: null } }, ".geoHint.region", null],
  [{ allowLiveAccess: "no" }, ".allowLiveAccess", "no"],
  [{ searchContextSize: "huge" }, ".searchContextSize", "huge"],
])("%j is refused at %j", (config, place, value) => {
  expect(() => make(config)).toThrow(refusal({ field: `webSearchTool(config)${place}`, value }));
});

test.each([
  [{ domainFilters: {} }, " key", "domainFilter"],
  [{ allowLiveAcess: true }, " key", "allowLiveAccess"],
  [{ domainFilter: { allowd: [] } }, ".domainFilter key", "allowed"],
  [{ geoHint: { timeZone: "UTC" } }, ".geoHint key", "timezone"],
])("%j has a key at %j that was to be %j", (config, place, meant) => {
  expect(() => make(config)).toThrow(
    refusal({
      field: `webSearchTool(config)${place}`,
      message: expect.stringContaining(`did you mean "${meant}"?`),
    }),
  );
});

test.each(["allowed", "blocked"])("%s holds a hundred domains and no more", (list) => {
  expect(() => make({ domainFilter: { [list]: domains(100) } })).not.toThrow();
  expect(() => make({ domainFilter: { [list]: domains(101) } })).toThrow(
    refusal({ field: `webSearchTool(config).domainFilter.${list}.length`, value: 101 }),
  );
});

test.each([
  ["UK", 'write "GB"'],
  ["uk", 'write "GB"'],
  ["gb", 'write "GB"'],
  ["EU", 'write one like "US", or leave it out'],
  ["ZZ", 'write one like "US", or leave it out'],
  ["XK", 'write one like "US", or leave it out'],
  ["GBR", 'write one like "US", or leave it out'],
  ["", 'write one like "US", or leave it out'],
])("the country %j is refused: %s", (countryCode, remedy) => {
  expect(() => make({ geoHint: { countryCode } })).toThrow(
    refusal({
      field: "webSearchTool(config).geoHint.countryCode",
      value: countryCode,
      message: expect.stringMatching(`: ${remedy}$`),
    }),
  );
});

test.each([
  "+01:00",
  "-05",
  "GMT+1",
  "UTC+01:00",
  "Mars/Phobos",
  "PST",
  "IST",
  "SystemV/PST8",
  "London",
  "Europe/London ",
  "",
  60,
])("the time zone %j is refused", (timezone) => {
  expect(() => make({ geoHint: { timezone } })).toThrow(
    refusal({
      field: "webSearchTool(config).geoHint.timezone",
      value: timezone,
      message: expect.stringContaining('write one like "Europe/London"'),
    }),
  );
});
