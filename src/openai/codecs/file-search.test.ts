import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { type FileSearchConfig, fileSearchTool } from "../../tools/hosted/file-search.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem } from "../wire.ts";
import { fileSearchCodec } from "./file-search.ts";

const tool = fileSearchTool({ vectorStoreIds: ["vs_1"] });
const env = { model: "gpt-5", containerId: null };
const serialize = (config: FileSearchConfig) =>
  fileSearchCodec.serialize(fileSearchTool(config), env);
const parse = (...items: WireItem[]) => fileSearchCodec.parseOutput(items, tool);
const readCalls = (...items: WireItem[]) => fileSearchCodec.calls?.(items, tool) ?? [];

const createCall = (id: string, more: object = {}): WireItem => ({
  type: "file_search_call",
  id,
  status: "completed",
  queries: ["a"],
  results: null,
  ...more,
});
const hit = { file_id: "file-1", filename: "a.txt", score: 0.9, text: "A.", attributes: { n: 1 } };
const answer: WireItem = {
  type: "message",
  content: [
    {
      type: "output_text",
      text: "It is A.",
      annotations: [
        { type: "file_citation", file_id: "file-1", filename: "a.txt", index: 7 },
        { type: "url_citation", url: "https://a", title: "", start_index: 0, end_index: 2 },
      ],
    },
  ],
};
const citation = { type: "file", span: [7, 7], fileId: "file-1", filename: "a.txt" };

describe("fileSearchCodec.serialize()", () => {
  test("always sends the stores and the number of results", () => {
    expect(serialize({ vectorStoreIds: ["vs_1", "vs_2"] })).toEqual({
      type: "file_search",
      vector_store_ids: ["vs_1", "vs_2"],
      max_num_results: 20,
    });
  });

  test("sends filters and ranking in the API's format", () => {
    const filters = {
      type: "and",
      filters: [
        { type: "eq", key: "year", value: 2026 },
        { type: "or", filters: [{ type: "in", key: "team", value: ["a", "b"] }] },
      ],
    } as const;
    const ranking = {
      ranker: "auto",
      scoreThreshold: 0,
      hybridSearch: { embeddingWeight: 1, textWeight: 2 },
    } as const;
    expect(serialize({ vectorStoreIds: ["vs_1"], maxResults: 5, filters, ranking })).toEqual({
      type: "file_search",
      vector_store_ids: ["vs_1"],
      max_num_results: 5,
      filters,
      ranking_options: {
        ranker: "auto",
        score_threshold: 0,
        hybrid_search: { embedding_weight: 1, text_weight: 2 },
      },
    });
  });

  test("sends only the ranking options that are set", () => {
    expect(serialize({ vectorStoreIds: ["vs_1"], ranking: { scoreThreshold: 0.5 } })).toEqual({
      type: "file_search",
      vector_store_ids: ["vs_1"],
      max_num_results: 20,
      ranking_options: { score_threshold: 0.5 },
    });
  });

  test("rejects an empty array of stores", () => {
    expect(() => serialize({ vectorStoreIds: [] })).toThrow(InvalidOptionError);
    expect(() => serialize({ vectorStoreIds: [] })).toThrow(
      'Hosted tool "file_search" config.vectorStoreIds must contain at least one vector store id, got []. Pass the id of an existing vector store, or remove the tool.',
    );
  });

  test("rejects a config without stores", () => {
    const bare = new HostedTool({
      kind: "file_search",
      name: "docs",
      description: "Searches.",
      config: {},
    });
    const codec: { serialize(tool: HostedTool, given: typeof env): unknown } = fileSearchCodec;
    expect(() => codec.serialize(bare, env)).toThrow(
      'Hosted tool "docs" config.vectorStoreIds must contain at least one vector store id',
    );
  });
});

test("fileSearchCodec.include() requests the results", () => {
  expect(fileSearchCodec.kind).toBe("file_search");
  expect(fileSearchCodec.include?.(tool)).toEqual(["file_search_call.results"]);
});

describe("fileSearchCodec.parseOutput()", () => {
  test("returns null if the model did not search", () => {
    expect(parse()).toBeNull();
    expect(parse(answer)).toBeNull();
  });

  test("combines the queries and results of all searches", () => {
    const output = parse(
      createCall("fs_1", { queries: ["a", "b"], results: [hit] }),
      createCall("fs_2", {
        queries: ["c"],
        results: [{ ...hit, file_id: "file-2", attributes: null }],
      }),
      answer,
    );
    expect(output).toEqual({
      text: "It is A.",
      queries: ["a", "b", "c"],
      results: [
        { fileId: "file-1", filename: "a.txt", score: 0.9, text: "A.", attributes: { n: 1 } },
        { fileId: "file-2", filename: "a.txt", score: 0.9, text: "A.", attributes: {} },
      ],
      citations: [citation],
    });
  });

  test("tolerates missing and invalid results", () => {
    expect(parse(createCall("fs_1"))?.results).toEqual([]);
    expect(parse(createCall("fs_1", { queries: null, results: "x" }))).toEqual({
      text: "",
      queries: [],
      results: [],
      citations: [],
    });
    const odd = [null, {}, { score: Number.NaN, attributes: { a: "x", b: true, c: null, d: [] } }];
    expect(parse(createCall("fs_1", { results: odd }))?.results).toEqual([
      { fileId: "", filename: "", score: 0, text: "", attributes: {} },
      { fileId: "", filename: "", score: 0, text: "", attributes: { a: "x", b: true } },
    ]);
  });
});

describe("fileSearchCodec.calls()", () => {
  test("returns one call per item, with its results", () => {
    const first = createCall("fs_1", { queries: ["a", "b"], results: [hit] });
    const second = createCall("fs_2", { queries: [] });
    const found = readCalls(first, second, answer);
    expect(found).toEqual([
      {
        name: "file_search",
        kind: "file_search",
        callId: "fs_1",
        params: { query: "a", queries: ["a", "b"] },
        output: {
          text: "It is A.",
          queries: ["a", "b"],
          results: [
            { fileId: "file-1", filename: "a.txt", score: 0.9, text: "A.", attributes: { n: 1 } },
          ],
          citations: [citation],
        },
        success: true,
        message: "Searched files: a; b",
        raw: first,
      },
      expect.objectContaining({
        callId: "fs_2",
        params: { query: "", queries: [] },
        message: "Searched files",
        output: expect.objectContaining({ results: [] }),
      }),
    ]);
    expect(found[0]?.raw).toBe(first);
    expect(Object.keys(found[0]?.params ?? {}).toSorted()).toEqual(
      Object.keys(fileSearchCodec.params ?? {}).toSorted(),
    );
  });

  test.each([
    ["searching", true, "Searched files: a"],
    [undefined, true, "Searched files: a"],
    ["failed", false, 'Failed (status "failed")'],
    ["incomplete", false, 'Failed (status "incomplete")'],
  ])("maps the status %s to success %s", (status, success, message) => {
    expect(readCalls(createCall("fs_1", { status }))).toEqual([
      expect.objectContaining({ success, message }),
    ]);
  });
});
