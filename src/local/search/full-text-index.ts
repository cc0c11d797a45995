import type { Database } from "../store/database.ts";
import { readNumberColumn } from "../store/row.ts";
import type { Statement } from "../store/statement.ts";
import { toIndexableText, toMatchExpression } from "./extract-terms.ts";

/** The database methods that the index needs. */
export type IndexDatabase = Pick<Database, "exec" | "prepare">;

/** A row that contains some of the terms. */
export interface IndexMatch {
  readonly row: number;
  /** From 0 to 1; higher is better. */
  readonly score: number;
}

/**
 * An FTS5 index over rows whose text is stored separately, ranked by BM25. It ignores accents and compares
 * English words by their stems: "installing" finds "installed".
 */
export class FullTextIndex {
  readonly #insert: Statement;
  readonly #delete: Statement;
  readonly #select: Statement;

  /** Creates the table if it does not exist. `table` and the columns go into SQL: never pass user input. */
  constructor(database: IndexDatabase, table: string, weights: Readonly<Record<string, number>>) {
    const columns = Object.keys(weights);
    database.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING fts5(${columns.join(", ")},
         content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2")`,
    );
    const marks = columns.map(() => "?").join(", ");
    this.#insert = database.prepare(
      `INSERT INTO ${table}(rowid, ${columns.join(", ")}) VALUES (?, ${marks})`,
    );
    this.#delete = database.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
    const rank = `bm25(${Object.values(weights).join(", ")})`;
    this.#select = database.prepare(
      `SELECT rowid, rank FROM ${table} WHERE ${table} MATCH ? AND rank MATCH '${rank}' ORDER BY rank`,
    );
  }

  /** Indexes a row, with one text per column. */
  add(row: number, texts: readonly string[]): void {
    this.#insert.run(row, ...texts.map(toIndexableText));
  }

  /** Removes a row. */
  remove(row: number): void {
    this.#delete.run(row);
  }

  /** Yields the rows that contain any of the terms, best first. Reads only as far as the caller iterates. */
  *findMatches(terms: readonly string[], rowCount: number): Generator<IndexMatch> {
    const expression = toMatchExpression(terms);
    if (expression === null) return;
    const most = computeMaxRank(terms.length, rowCount);
    for (const found of this.#select.iterate(expression)) {
      // BM25 ranks are negative here: lower is better.
      const score = Math.sqrt(Math.min(1, -readNumberColumn(found, "rank") / most));
      yield { row: readNumberColumn(found, "rowid"), score };
    }
  }
}

/**
 * Computes an upper bound of BM25: each term occurs in only one row, infinitely often. A score is the
 * square root of the rank divided by this bound, because real texts stay far below it.
 */
function computeMaxRank(terms: number, rows: number): number {
  const rarest = Math.log((rows - 0.5) / 1.5);
  return terms * SATURATION * (rarest > 0 ? rarest : MIN_IDF);
}

/** FTS5's k1 + 1. */
const SATURATION = 2.2;

/** FTS5's weight of a term that occurs in more than half of the rows. */
const MIN_IDF = 1e-6;
