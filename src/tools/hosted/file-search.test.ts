import { describe, expect, test } from "vitest";
import { type FileSearchConfig, type FileSearchFilter, fileSearchTool } from "./file-search.ts";

const make = (config: unknown): unknown => Reflect.apply(fileSearchTool, undefined, [config]);
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });

const createConfig = (): FileSearchConfig => ({
  vectorStoreIds: ["vs_1", "vs_2"],
  maxResults: 5,
  filters: {
    type: "and",
    filters: [
      { type: "eq", key: "region", value: "eu" },
      { type: "or", filters: [{ type: "in", key: "year", value: [2024, "2025"] }] },
    ],
  },
  ranking: {
    ranker: "default-2024-11-15",
    scoreThreshold: 0.5,
    hybridSearch: { embeddingWeight: 1, textWeight: 0.5 },
  },
});

describe("fileSearchTool()", () => {
  test("searches the given stores", () => {
    expect(fileSearchTool({ vectorStoreIds: ["vs_1"] })).toMatchObject({
      kind: "file_search",
      name: "file_search",
      config: { vectorStoreIds: ["vs_1"] },
    });
  });

  test("accepts another name", () => {
    expect(fileSearchTool({ vectorStoreIds: [] }, { name: "library" }).name).toBe("library");
  });

  test("freezes a copy of its config", () => {
    const config = createConfig();
    const { config: kept } = fileSearchTool(config);
    expect(kept).toEqual(config);
    for (const part of [kept, kept.vectorStoreIds, kept.filters, kept.ranking?.hybridSearch]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(config).toEqual(createConfig());
    expect(Object.isFrozen(config.vectorStoreIds)).toBe(false);
    expect(Object.isFrozen(config.filters)).toBe(false);
  });
});

test.each<FileSearchConfig>([
  { vectorStoreIds: [] },
  { vectorStoreIds: [], maxResults: undefined, filters: undefined, ranking: undefined },
  { vectorStoreIds: ["vs_1"], maxResults: 1 },
  { vectorStoreIds: ["vs_1"], maxResults: 50 },
  { vectorStoreIds: ["vs_1"], ranking: {} },
  { vectorStoreIds: ["vs_1"], ranking: { ranker: "auto", scoreThreshold: 0 } },
  { vectorStoreIds: ["vs_1"], ranking: { scoreThreshold: 1 } },
  createConfig(),
])("fileSearchTool() accepts %j", (config) => {
  expect(() => fileSearchTool(config)).not.toThrow();
});

test.each<FileSearchFilter>([
  { type: "eq", key: "public", value: true },
  { type: "ne", key: "author", value: "" },
  { type: "gt", key: "date", value: 1.5 },
  { type: "gte", key: "date", value: -1 },
  { type: "lt", key: "date", value: 0 },
  { type: "lte", key: "date", value: 2 },
  { type: "nin", key: "year", value: [] },
  { type: "and", filters: [] },
])("fileSearchTool() accepts the filter %j", (filters) => {
  expect(() => fileSearchTool({ vectorStoreIds: ["vs_1"], filters })).not.toThrow();
});

test("fileSearchTool() accepts the same filter in two places", () => {
  const old = { type: "lt", key: "year", value: 2000 } as const;
  const filters = { type: "or", filters: [old, { type: "and", filters: [old] }] } as const;
  expect(() => fileSearchTool({ vectorStoreIds: ["vs_1"], filters })).not.toThrow();
});

test("fileSearchTool() rejects a filter that contains itself", () => {
  const filters: unknown[] = [];
  const endless = { type: "and", filters };
  filters.push(endless);
  expect(() => make({ vectorStoreIds: ["vs_1"], filters: endless })).toThrow(
    matchError({ field: "fileSearchTool(config).filters.filters[0]" }),
  );
});

test.each([
  [undefined, "", undefined],
  [{}, ".vectorStoreIds", undefined],
  [{ vectorStoreIds: "vs_1" }, ".vectorStoreIds", "vs_1"],
  [{ vectorStoreIds: ["vs_1", " "] }, ".vectorStoreIds[1]", " "],
  [{ vectorStoreIds: [7] }, ".vectorStoreIds[0]", 7],
  [{ vectorStoreIds: [], maxResults: 0 }, ".maxResults", 0],
  [{ vectorStoreIds: [], maxResults: 51 }, ".maxResults", 51],
  [{ vectorStoreIds: [], maxResults: 2.5 }, ".maxResults", 2.5],
  [{ vectorStoreIds: [], maxResults: "5" }, ".maxResults", "5"],
  [{ vectorStoreIds: [], maxResult: 5 }, " key", "maxResult"],
  [{ vectorStoreIds: [], ranking: { ranker: "best" } }, ".ranking.ranker", "best"],
  [{ vectorStoreIds: [], ranking: { scoreThreshold: 1.1 } }, ".ranking.scoreThreshold", 1.1],
  [{ vectorStoreIds: [], ranking: { scoreThreshold: -1 } }, ".ranking.scoreThreshold", -1],
  [
    { vectorStoreIds: [], ranking: { hybridSearch: { embeddingWeight: 1 } } },
    ".ranking.hybridSearch.textWeight",
    undefined,
  ],
  [
    { vectorStoreIds: [], ranking: { hybridSearch: { embeddingWeight: -1, textWeight: 1 } } },
    ".ranking.hybridSearch.embeddingWeight",
    -1,
  ],
])("fileSearchTool() rejects %j at %j", (config, place, value) => {
  expect(() => make(config)).toThrow(
    matchError({ field: `fileSearchTool(config)${place}`, value }),
  );
});

test.each([
  ["region", "", "region"],
  [{ type: "like", key: "a", value: "b" }, ".type", "like"],
  [{ key: "a", value: "b" }, ".type", undefined],
  [{ type: "eq", value: "b" }, ".key", undefined],
  [{ type: "eq", key: " ", value: "b" }, ".key", " "],
  [{ type: "eq", key: "a" }, ".value", undefined],
  [{ type: "eq", key: "a", value: ["b"] }, ".value", ["b"]],
  [{ type: "gt", key: "a", value: Number.NaN }, ".value", Number.NaN],
  [{ type: "in", key: "a", value: "b" }, ".value", "b"],
  [{ type: "in", key: "a", value: ["b", true] }, ".value[1]", true],
  [{ type: "eq", key: "a", value: "b", filters: [] }, " key", "filters"],
  [{ type: "and", key: "a", filters: [] }, " key", "key"],
  [{ type: "and" }, ".filters", undefined],
  [{ type: "or", filters: [{ type: "and", filters: [7] }] }, ".filters[0].filters[0]", 7],
  [
    {
      type: "or",
      filters: [
        { type: "eq", key: "a", value: 1 },
        { type: "ne", key: 1, value: 1 },
      ],
    },
    ".filters[1].key",
    1,
  ],
])("fileSearchTool() rejects the filter %j at %j", (filters, place, value) => {
  expect(() => make({ vectorStoreIds: ["vs_1"], filters })).toThrow(
    matchError({ field: `fileSearchTool(config).filters${place}`, value }),
  );
});
