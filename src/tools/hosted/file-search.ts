import { PromptValidationError } from "../../base/errors.ts";
import {
  type Check,
  checkKeys,
  checkText,
  checkType,
  elsewhere,
  integerFrom,
  listOf,
  numberFrom,
  oneOf,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import type { Citation } from "./citation.ts";

/** Which stores are searched, and for how much. */
export interface FileSearchConfig {
  /** Stores that exist. May be empty here, to be filled later; a request with none is refused. */
  readonly vectorStoreIds: readonly string[];
  /** 1 to 50. @default 20 */
  readonly maxResults?: number | undefined;
  /** Only files whose attributes match. */
  readonly filters?: FileSearchFilter | undefined;
  readonly ranking?: FileSearchRanking | undefined;
}

/** Which files count, by their attributes. */
export type FileSearchFilter = ComparisonFilter | CompoundFilter;

/** Compares one attribute of a file. */
export interface ComparisonFilter {
  readonly type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
  readonly key: string;
  /** A list for `"in"` and `"nin"`, a single value for the others. */
  readonly value: string | number | boolean | readonly (string | number)[];
}

/** Holds if all of `filters` do, or any of them. */
export interface CompoundFilter {
  readonly type: "and" | "or";
  readonly filters: readonly FileSearchFilter[];
}

/** How what is found is ranked. */
export interface FileSearchRanking {
  /** @default "auto" */
  readonly ranker?: "auto" | "default-2024-11-15" | undefined;
  /** 0 to 1; what scores less is left out. @default 0 */
  readonly scoreThreshold?: number | undefined;
  readonly hybridSearch?: HybridSearchWeights | undefined;
}

/** How much likeness of meaning and likeness of words count, one against the other. */
export interface HybridSearchWeights {
  readonly embeddingWeight: number;
  readonly textWeight: number;
}

/** What all file searches of an evaluation found. */
export interface FileSearchResult {
  /** What the model said. */
  readonly text: string;
  readonly queries: readonly string[];
  readonly results: readonly FileSearchHit[];
  readonly citations: readonly Citation[];
}

/** A passage of a file. */
export interface FileSearchHit {
  readonly fileId: string;
  readonly filename: string;
  /** 0 to 1. */
  readonly score: number;
  readonly text: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** A tool by which the model searches files that were put into vector stores. */
export function fileSearchTool(
  config: FileSearchConfig,
  { name = "file_search" }: { readonly name?: string | undefined } = {},
): HostedTool<FileSearchConfig, FileSearchResult> {
  checkKeys<FileSearchConfig>(config, "fileSearchTool(config)", {
    vectorStoreIds: listOf(checkText),
    maxResults: optional(integerFrom(1, 50)),
    filters: optional(filterWithin([])),
    ranking: optional(checkRanking),
  });
  return markChecked(
    new HostedTool({
      kind: "file_search",
      name,
      description: "Search the stored files by meaning and words, and cite what was found.",
      config,
    }),
  );
}

function filterWithin(parents: readonly unknown[]): Check {
  return (filter, field) => {
    if (parents.includes(filter)) {
      const rule = "must not contain itself";
      throw new PromptValidationError({ field, value: filter, rule, remedy: "build it as a tree" });
    }
    const type = checkType(filter, field, filterTypes);
    if (type === "and" || type === "or") {
      const filters = listOf(filterWithin([...parents, filter]));
      checkKeys<CompoundFilter>(filter, field, { type: elsewhere, filters });
      return;
    }
    const value = type === "in" || type === "nin" ? listOf(checkListed) : checkCompared;
    checkKeys<ComparisonFilter>(filter, field, { type: elsewhere, key: checkText, value });
  };
}

const filterTypes = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "and", "or"] as const;

function checkListed(value: unknown, field: string): void {
  if (typeof value === "string" || Number.isFinite(value)) return;
  const rule = "must be a text or a number";
  throw new PromptValidationError({ field, value, rule, remedy: "attributes hold nothing else" });
}

function checkCompared(value: unknown, field: string): void {
  if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return;
  const rule = "must be a text, a number or a boolean";
  const remedy = 'for a list use the type "in" or "nin"';
  throw new PromptValidationError({ field, value, rule, remedy });
}

function checkRanking(ranking: unknown, field: string): void {
  checkKeys<FileSearchRanking>(ranking, field, {
    ranker: optional(oneOf(["auto", "default-2024-11-15"])),
    scoreThreshold: optional(numberFrom(0, 1)),
    hybridSearch: optional(checkWeights),
  });
}

function checkWeights(weights: unknown, field: string): void {
  const weight = numberFrom(0);
  checkKeys<HybridSearchWeights>(weights, field, { embeddingWeight: weight, textWeight: weight });
}
