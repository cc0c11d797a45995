import { InvalidOptionError } from "../../base/errors.ts";
import { itemsOfType, numberAt, recordAt, recordsAt, textAt, textsAt } from "../../base/reading.ts";
import {
  type FileSearchConfig,
  type FileSearchHit,
  type FileSearchRanking,
  type FileSearchResult,
  fileSearchTool,
} from "../../tools/hosted/file-search.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { WireFileSearch, WireItem } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { failureWith, hasFailed, identityOf, onlySet } from "./codec-parts.ts";
import { type Said, said } from "./said.ts";

/** https://platform.openai.com/docs/guides/tools-file-search */
export const fileSearchCodec: HostedToolCodec<FileSearchConfig, FileSearchResult> = {
  kind: "file_search",

  params: { query: "string", queries: "array" },

  serialize(tool) {
    const { vectorStoreIds = [], maxResults = 20, filters, ranking } = tool.config;
    if (vectorStoreIds.length === 0) throw noStores(tool.name, vectorStoreIds);
    checkedConfig(tool, () => fileSearchTool(tool.config));
    const entry: WireFileSearch = {
      type: "file_search",
      vector_store_ids: vectorStoreIds,
      max_num_results: maxResults,
      ...onlySet({ filters, ranking_options: ranking && rankingOf(ranking) }),
    };
    return entry;
  },

  include: () => ["file_search_call.results"],

  parseOutput(items) {
    const calls = itemsOfType(items, "file_search_call");
    return calls.length > 0 ? resultOf(calls, said(items)) : null;
  },

  calls(items, tool) {
    const words = said(items);
    return itemsOfType(items, "file_search_call").map((item) => {
      const queries = textsAt(item, "queries");
      return {
        ...identityOf(item, tool),
        params: { query: queries[0] ?? "", queries },
        output: hasFailed(textAt(item, "status")) ? null : resultOf([item], words),
        success: !hasFailed(textAt(item, "status")),
        message: messageOf(item),
      };
    });
  },
};

function noStores(name: string, value: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: `Hosted tool "${name}" config.vectorStoreIds`,
    value,
    rule: "must name a vector store",
    remedy: "give the id of one that exists, or leave the tool out",
  });
}

function rankingOf({ ranker, scoreThreshold, hybridSearch }: FileSearchRanking) {
  return onlySet({
    ranker,
    score_threshold: scoreThreshold,
    hybrid_search: hybridSearch && {
      embedding_weight: hybridSearch.embeddingWeight,
      text_weight: hybridSearch.textWeight,
    },
  });
}

/** Only files: what else the text cites was not found in them. */
function resultOf(calls: readonly WireItem[], { text, citations }: Said): FileSearchResult {
  return {
    text,
    queries: calls.flatMap((item) => textsAt(item, "queries")),
    results: calls.flatMap((item) => recordsAt(item, "results")).map(hitOf),
    citations: citations.filter(({ type }) => type === "file"),
  };
}

function hitOf(result: WireItem): FileSearchHit {
  return {
    fileId: textAt(result, "file_id"),
    filename: textAt(result, "filename"),
    score: numberAt(result, "score") ?? 0,
    text: textAt(result, "text"),
    attributes: attributesOf(recordAt(result, "attributes")),
  };
}

function attributesOf(attributes: WireItem): FileSearchHit["attributes"] {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? [[name, value]]
        : [],
    ),
  );
}

function messageOf(item: WireItem): string {
  const status = textAt(item, "status");
  if (hasFailed(status)) return failureWith(status);
  const queries = textsAt(item, "queries");
  return queries.length > 0 ? `Searched files: ${queries.join("; ")}` : "Searched files";
}
