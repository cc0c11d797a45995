import { checkKnownKeys, PromptValidationError } from "../../base/errors.ts";
import {
  arrayCheck,
  type ConfigCheck,
  checkKeys,
  checkSingleLine,
  checkType,
  deferCheck,
  enumCheck,
  integerCheck,
  numberCheck,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import type { Citation } from "./citation.ts";

/** Settings of {@link fileSearchTool}. */
export interface FileSearchConfig {
  /**
   * Ids of existing vector stores. May be empty at construction, but a request without any is
   * rejected.
   */
  readonly vectorStoreIds: readonly string[];
  /** Maximum number of results, 1 to 50. @default 20 */
  readonly maxResults?: number | undefined;
  /** Searches only files whose attributes match. */
  readonly filters?: FileSearchFilter | undefined;
  /** How results are ranked. */
  readonly ranking?: FileSearchRanking | undefined;
}

/** Selects files by their attributes. */
export type FileSearchFilter = ComparisonFilter | CompoundFilter;

/** Compares one attribute of a file with a value. */
export interface ComparisonFilter {
  /** Comparison operator; `"in"` and `"nin"` test membership in an array. */
  readonly type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
  /** Name of the attribute. */
  readonly key: string;
  /** An array for `"in"` and `"nin"`, a single value for the others. */
  readonly value: string | number | boolean | readonly (string | number)[];
}

/** Combines filters: `"and"` requires all of them to match, `"or"` any. */
export interface CompoundFilter {
  /** How the filters are combined. */
  readonly type: "and" | "or";
  /** Filters to combine. */
  readonly filters: readonly FileSearchFilter[];
}

/** How search results are ranked. */
export interface FileSearchRanking {
  /** Ranking algorithm. @default "auto" */
  readonly ranker?: "auto" | "default-2024-11-15" | undefined;
  /** Minimum score of a result, 0 to 1. @default 0 */
  readonly scoreThreshold?: number | undefined;
  /** Weights of semantic and keyword search. */
  readonly hybridSearch?: HybridSearchWeights | undefined;
}

/** Relative weights of semantic and keyword matches in a hybrid search. */
export interface HybridSearchWeights {
  /** Weight of semantic matches; 0 or more. */
  readonly embeddingWeight: number;
  /** Weight of keyword matches; 0 or more. */
  readonly textWeight: number;
}

/** The outcome of all file searches of an evaluation. */
export interface FileSearchResult {
  /** The model's answer. */
  readonly text: string;
  /** Every query, in order. */
  readonly queries: readonly string[];
  /** Passages that were found. */
  readonly results: readonly FileSearchHit[];
  /** Citations in the model's answer. */
  readonly citations: readonly Citation[];
}

/** A passage of a file that matched. */
export interface FileSearchHit {
  /** Provider's id of the file. */
  readonly fileId: string;
  /** Name of the file. */
  readonly filename: string;
  /** Relevance, 0 to 1. */
  readonly score: number;
  /** Text of the passage. */
  readonly text: string;
  /** Attributes of the file. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** Creates a tool that lets the model search files in vector stores. */
export function fileSearchTool(
  config: FileSearchConfig,
  options: { readonly name?: string | undefined } = {},
): HostedTool<FileSearchConfig, FileSearchResult> {
  checkKnownKeys(options, "fileSearchTool(options)", { name: true }, PromptValidationError);
  const { name = "file_search" } = options;
  checkKeys<FileSearchConfig>(config, "fileSearchTool(config)", {
    vectorStoreIds: arrayCheck(checkSingleLine),
    maxResults: optional(integerCheck(1, 50)),
    filters: optional(filterCheck([])),
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

function filterCheck(parents: readonly unknown[]): ConfigCheck {
  return (filter, field) => {
    if (parents.includes(filter)) {
      const rule = "must not contain itself";
      throw new PromptValidationError({
        field,
        value: filter,
        rule,
        remedy: "build the filter as a tree",
      });
    }
    const type = checkType(filter, field, filterTypes);
    if (type === "and" || type === "or") {
      const filters = arrayCheck(filterCheck([...parents, filter]));
      checkKeys<CompoundFilter>(filter, field, { type: deferCheck, filters });
      return;
    }
    const value = type === "in" || type === "nin" ? arrayCheck(checkArrayOperand) : checkOperand;
    checkKeys<ComparisonFilter>(filter, field, { type: deferCheck, key: checkSingleLine, value });
  };
}

const filterTypes = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "and", "or"] as const;

function checkArrayOperand(value: unknown, field: string): void {
  if (typeof value === "string" || Number.isFinite(value)) return;
  const rule = "must be a string or a number";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "use strings or numbers only",
  });
}

function checkOperand(value: unknown, field: string): void {
  if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return;
  const rule = "must be a string, a number or a boolean";
  const remedy = 'use the type "in" or "nin" for an array';
  throw new PromptValidationError({ field, value, rule, remedy });
}

function checkRanking(ranking: unknown, field: string): void {
  checkKeys<FileSearchRanking>(ranking, field, {
    ranker: optional(enumCheck(["auto", "default-2024-11-15"])),
    scoreThreshold: optional(numberCheck(0, 1)),
    hybridSearch: optional(checkWeights),
  });
}

function checkWeights(weights: unknown, field: string): void {
  const weight = numberCheck(0);
  checkKeys<HybridSearchWeights>(weights, field, { embeddingWeight: weight, textWeight: weight });
}
