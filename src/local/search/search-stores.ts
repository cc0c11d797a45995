import type { Database } from "../store/database.ts";
import { textIn } from "../store/row.ts";
import { type Attributes, isLetThrough } from "./attribute-filter.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import { attributesOf } from "./store-objects.ts";
import { termsOf } from "./terms.ts";

/** What is looked for. */
export interface StoreQuery {
  /** Rows of the stores, each once. */
  readonly stores: readonly number[];
  readonly queries: readonly string[];
  readonly maxResults: number;
  /** Of the shape of `filterShape`, or `null`. */
  readonly filters: unknown;
  readonly scoreThreshold: number;
}

/** A piece that was found. */
export interface SearchHit {
  readonly fileId: string;
  readonly filename: string;
  /** 0..1. */
  readonly score: number;
  readonly attributes: Attributes;
  readonly text: string;
}

/** Searches several stores for several queries at once. Each piece is given once, by its best score. */
export function searchStores(
  database: Pick<Database, "prepare">,
  index: ChunkIndex,
  query: StoreQuery,
): readonly SearchHit[] {
  const fileOf = fileReader(database, query.filters);
  const found = new Map<string, SearchHit>();
  for (const store of query.stores) {
    for (const terms of query.queries.map(termsOf)) {
      let left = query.maxResults;
      for (const { chunk, file, score } of index.matches(store, terms)) {
        if (left === 0 || score < query.scoreThreshold) break;
        const facts = fileOf(file);
        if (facts === null) continue;
        left -= 1;
        const { start, text } = index.get(chunk);
        const hit = { ...facts, score, text };
        // A file may be in several stores, where its pieces are others but say the same.
        const key = `${hit.fileId} ${start} ${text}`;
        const before = found.get(key);
        if (before === undefined || before.score < score) found.set(key, hit);
      }
    }
  }
  const ranked = [...found.values()].sort((a, b) => b.score - a.score);
  return ranked.slice(0, query.maxResults);
}

type FileFacts = Pick<SearchHit, "fileId" | "filename" | "attributes">;

/** Reads each file once; `null` for one that is not indexed as a whole or is filtered out. */
function fileReader(
  database: Pick<Database, "prepare">,
  filters: unknown,
): (file: number) => FileFacts | null {
  const statement = database.prepare(
    "SELECT file_id, filename, attributes FROM vector_store_files WHERE row = ? AND status = 'completed'",
  );
  const known = new Map<number, FileFacts | null>();
  const read = (file: number): FileFacts | null => {
    const row = statement.get(file);
    if (row === undefined) return null;
    const attributes = attributesOf(row);
    if (!isLetThrough(attributes, filters)) return null;
    return { fileId: textIn(row, "file_id"), filename: textIn(row, "filename"), attributes };
  };
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const facts = read(file);
    known.set(file, facts);
    return facts;
  };
}
