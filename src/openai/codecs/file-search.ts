import { InvalidOptionError } from "../../base/errors.ts";
import {
  filterByType,
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStrings,
} from "../../base/json.ts";
import {
  type FileSearchConfig,
  type FileSearchHit,
  type FileSearchRanking,
  type FileSearchResult,
  fileSearchTool,
} from "../../tools/hosted/file-search.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { WireFileSearch, WireItem } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { describeFailure, hasFailed, identifyCall, omitUndefined } from "./codec-call.ts";
import { type MessageText, readMessageText } from "./message-text.ts";

/** The file_search tool. https://platform.openai.com/docs/guides/tools-file-search */
export const fileSearchCodec: HostedToolCodec<FileSearchConfig, FileSearchResult> = {
  kind: "file_search",

  params: { query: "string", queries: "array" },

  serialize(tool) {
    const { vectorStoreIds = [], maxResults = 20, filters, ranking } = tool.config;
    if (vectorStoreIds.length === 0) throw createNoStoresError(tool.name, vectorStoreIds);
    checkWithFactory(tool, () => fileSearchTool(tool.config));
    const entry: WireFileSearch = {
      type: "file_search",
      vector_store_ids: vectorStoreIds,
      max_num_results: maxResults,
      ...omitUndefined({ filters, ranking_options: ranking && toWireRanking(ranking) }),
    };
    return entry;
  },

  include: () => ["file_search_call.results"],

  parseOutput(items) {
    const calls = filterByType(items, "file_search_call");
    return calls.length > 0 ? createFileSearchResult(calls, readMessageText(items)) : null;
  },

  calls(items, tool, words = readMessageText(items)) {
    return filterByType(items, "file_search_call").map((item) => {
      const queries = readStrings(item, "queries");
      const failed = hasFailed(readString(item, "status"));
      return {
        ...identifyCall(item, tool),
        params: { query: queries[0] ?? "", queries },
        output: failed ? null : createFileSearchResult([item], words),
        success: !failed,
        message: describeFileSearch(item),
      };
    });
  },
};

function createNoStoresError(name: string, value: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: `Hosted tool "${name}" config.vectorStoreIds`,
    value,
    rule: "must contain at least one vector store id",
    remedy: "pass the id of an existing vector store, or remove the tool",
  });
}

function toWireRanking({ ranker, scoreThreshold, hybridSearch }: FileSearchRanking) {
  return omitUndefined({
    ranker,
    score_threshold: scoreThreshold,
    hybrid_search: hybridSearch && {
      embedding_weight: hybridSearch.embeddingWeight,
      text_weight: hybridSearch.textWeight,
    },
  });
}

/** Keeps only file citations; the others do not come from file search. */
function createFileSearchResult(
  calls: readonly WireItem[],
  { text, citations }: MessageText,
): FileSearchResult {
  return {
    text,
    queries: calls.flatMap((item) => readStrings(item, "queries")),
    results: calls.flatMap((item) => readRecords(item, "results")).map(toHit),
    citations: citations.filter(({ type }) => type === "file"),
  };
}

function toHit(result: WireItem): FileSearchHit {
  return {
    fileId: readString(result, "file_id"),
    filename: readString(result, "filename"),
    score: readNumber(result, "score") ?? 0,
    text: readString(result, "text"),
    attributes: filterAttributes(readRecord(result, "attributes")),
  };
}

function filterAttributes(attributes: WireItem): FileSearchHit["attributes"] {
  return Object.fromEntries(Object.entries(attributes).filter(isAttribute));
}

function isAttribute(
  entry: [name: string, value: unknown],
): entry is [name: string, value: string | number | boolean] {
  const type = typeof entry[1];
  return type === "string" || type === "number" || type === "boolean";
}

function describeFileSearch(item: WireItem): string {
  const status = readString(item, "status");
  if (hasFailed(status)) return describeFailure(status);
  const queries = readStrings(item, "queries");
  return queries.length > 0 ? `Searched files: ${queries.join("; ")}` : "Searched files";
}
