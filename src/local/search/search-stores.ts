import type { Database } from "../store/database.ts";
import { readTextColumn } from "../store/row.ts";
import { type Attributes, matchesFilter } from "./attribute-filter.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import { extractTerms } from "./extract-terms.ts";
import { parseAttributes } from "./store-objects.ts";

/** A search over several stores. */
export interface StoreQuery {
  /** Rows of the stores, without duplicates. */
  readonly stores: readonly number[];
  readonly queries: readonly string[];
  readonly maxResults: number;
  /** A filter valid by `filterShape`, or `null`. */
  readonly filters: unknown;
  readonly scoreThreshold: number;
}

/** A matching chunk. */
export interface SearchHit {
  readonly fileId: string;
  readonly filename: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly attributes: Attributes;
  readonly text: string;
}

/** Searches several stores for several queries at once. Returns each chunk once, with its best score. */
export function searchStores(
  database: Pick<Database, "prepare">,
  index: ChunkIndex,
  query: StoreQuery,
): readonly SearchHit[] {
  const readFile = createFileReader(database, query.filters);
  const found = new Map<string, SearchHit>();
  for (const store of query.stores) {
    for (const terms of query.queries.map(extractTerms)) {
      let left = query.maxResults;
      for (const { chunk, file, score } of index.findMatches(store, terms)) {
        if (left === 0 || score < query.scoreThreshold) break;
        const facts = readFile(file);
        if (facts === null) continue;
        left -= 1;
        const { start, text } = index.get(chunk);
        const hit = { ...facts, score, text };
        // The same file may be in several stores, as separate chunks with the same text.
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

/** Creates a function that reads each file once. It returns `null` if the file is not fully indexed or does not match the filter. */
function createFileReader(
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
    const attributes = parseAttributes(row);
    if (!matchesFilter(attributes, filters)) return null;
    return {
      fileId: readTextColumn(row, "file_id"),
      filename: readTextColumn(row, "filename"),
      attributes,
    };
  };
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const facts = read(file);
    known.set(file, facts);
    return facts;
  };
}
