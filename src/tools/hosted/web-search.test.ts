import { describe, expect, test } from "vitest";
import { type WebSearchConfig, webSearchTool } from "./web-search.ts";

const make = (config: unknown): unknown => Reflect.apply(webSearchTool, undefined, [config]);
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });
const createDomains = (count: number) =>
  Array.from({ length: count }, (_, index) => `site${index}.org`);

const createConfig = (): WebSearchConfig => ({
  domainFilter: { allowed: ["who.int"], blocked: ["example.com"] },
  geoHint: { countryCode: "GB", city: "London", region: "England", timezone: "Europe/London" },
  allowLiveAccess: false,
  searchContextSize: "low",
});

describe("webSearchTool()", () => {
  test("works without a config", () => {
    expect(webSearchTool()).toMatchObject({
      kind: "web_search",
      name: "web_search",
      description: "Search the web for current information and cite sources.",
      config: {},
      provider: null,
    });
  });

  test("accepts another name", () => {
    expect(webSearchTool({}, { name: "cached_search" }).name).toBe("cached_search");
    expect(() => webSearchTool({}, { name: "Cached Search" })).toThrow(
      matchError({ field: "HostedTool.name" }),
    );
  });

  test("freezes a copy of its config", () => {
    const config = createConfig();
    const { config: kept } = webSearchTool(config);
    expect(kept).toEqual(config);
    expect(kept).not.toBe(config);
    for (const part of [kept, kept.domainFilter, kept.domainFilter?.allowed, kept.geoHint]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(config).toEqual(createConfig());
    expect(Object.isFrozen(config)).toBe(false);
    expect(Object.isFrozen(config.domainFilter?.allowed)).toBe(false);
  });
});

test.each<WebSearchConfig>([
  {},
  createConfig(),
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
])("webSearchTool() accepts %j", (config) => {
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
])("webSearchTool() rejects %j at %j", (config, place, value) => {
  expect(() => make(config)).toThrow(matchError({ field: `webSearchTool(config)${place}`, value }));
});

test.each([
  [{ domainFilters: {} }, " key", "domainFilter"],
  [{ allowLiveAcess: true }, " key", "allowLiveAccess"],
  [{ domainFilter: { allowd: [] } }, ".domainFilter key", "allowed"],
  [{ geoHint: { timeZone: "UTC" } }, ".geoHint key", "timezone"],
])(
  "webSearchTool() rejects the unknown key in %j at %j and suggests %j",
  (config, place, meant) => {
    expect(() => make(config)).toThrow(
      matchError({
        field: `webSearchTool(config)${place}`,
        message: expect.stringContaining(`Did you mean "${meant}"?`),
      }),
    );
  },
);

test.each(["allowed", "blocked"])("webSearchTool() accepts at most 100 domains in %s", (list) => {
  expect(() => make({ domainFilter: { [list]: createDomains(100) } })).not.toThrow();
  expect(() => make({ domainFilter: { [list]: createDomains(101) } })).toThrow(
    matchError({ field: `webSearchTool(config).domainFilter.${list}.length`, value: 101 }),
  );
});

test.each([
  ["UK", 'Use "GB"'],
  ["uk", 'Use "GB"'],
  ["gb", 'Use "GB"'],
  ["EU", 'Use a code such as "US", or omit it'],
  ["ZZ", 'Use a code such as "US", or omit it'],
  ["XK", 'Use a code such as "US", or omit it'],
  ["GBR", 'Use a code such as "US", or omit it'],
  ["", 'Use a code such as "US", or omit it'],
])("webSearchTool() rejects the country %j with the remedy: %s", (countryCode, remedy) => {
  expect(() => make({ geoHint: { countryCode } })).toThrow(
    matchError({
      field: "webSearchTool(config).geoHint.countryCode",
      value: countryCode,
      message: expect.stringMatching(`\\. ${remedy}\\.$`),
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
])("webSearchTool() rejects the time zone %j", (timezone) => {
  expect(() => make({ geoHint: { timezone } })).toThrow(
    matchError({
      field: "webSearchTool(config).geoHint.timezone",
      value: timezone,
      message: expect.stringContaining('Use a name such as "Europe/London"'),
    }),
  );
});
