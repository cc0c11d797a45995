import type { StatementSync } from "node:sqlite";
import type { Database } from "../store/database.ts";
import { numberIn } from "../store/row.ts";
import { indexable, matchExpression } from "./terms.ts";

/** What the index needs of a database. */
export type IndexDatabase = Pick<Database, "exec" | "prepare">;

/** A row that has some of the terms. */
export interface Match {
  readonly row: number;
  /** 0..1; the better the higher. */
  readonly score: number;
}

/**
 * An index of FTS5 over rows whose text is kept elsewhere, ranked by BM25. Words count without their
 * accents, and English ones by their stems: who asks for "installing" finds "installed".
 */
export class FullText {
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #select: StatementSync;

  /** Makes the table unless it is there. Its name and columns are the program's own, never a user's. */
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

  /** Indexes a row: one text for each column. */
  add(row: number, texts: readonly string[]): void {
    this.#insert.run(row, ...texts.map(indexable));
  }

  /** Forgets a row. */
  remove(row: number): void {
    this.#delete.run(row);
  }

  /** The rows that have any of the terms, best first; read only as far as the caller goes on. */
  *matches(terms: readonly string[], rowCount: number): Generator<Match> {
    const expression = matchExpression(terms);
    if (expression === null) return;
    const most = bestRank(terms.length, rowCount);
    for (const found of this.#select.iterate(expression)) {
      // BM25 is negative here: the less, the better.
      const score = Math.sqrt(Math.min(1, -numberIn(found, "rank") / most));
      yield { row: numberIn(found, "rowid"), score };
    }
  }
}

/**
 * What BM25 cannot exceed: each term in one row only, and in that one without end. A score is the root
 * of the share of it that a row has; the root, because no text comes near to that limit.
 */
function bestRank(terms: number, rows: number): number {
  const rarest = Math.log((rows - 0.5) / 1.5);
  return terms * SATURATION * (rarest > 0 ? rarest : SMALLEST_IDF);
}

/** FTS5's k1 + 1. */
const SATURATION = 2.2;

/** What FTS5 takes for the weight of a term that is in more than half of the rows. */
const SMALLEST_IDF = 1e-6;
