import type { SQLInputValue, StatementSync } from "node:sqlite";
import type { Database } from "./database.ts";
import { type PageQuery, unknownCursor } from "./list-page.ts";
import { numberIn, type Row } from "./row.ts";

/** Some of a table's rows, in the order asked for. */
export interface RowPage {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/**
 * Reads a table by pages. The table has `seq`, which grows, and `id`; rows that were deleted stay for
 * a while as `deleted = 1`, so that who deletes while paging can still name the last one seen.
 */
export class PagedRows {
  readonly #database: Database;
  readonly #table: string;
  readonly #place: StatementSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: Database, table: string) {
    this.#database = database;
    this.#table = table;
    this.#place = database.prepare(`SELECT seq FROM ${table} WHERE id = ?`);
  }

  /** Those that are not deleted and for which `where` holds, with its values. */
  page(query: PageQuery, where: string, values: readonly SQLInputValue[]): RowPage {
    const conditions = ["deleted = 0", where];
    const bounds: number[] = [];
    const newestFirst = query.order === "desc";
    if (query.after !== undefined) {
      conditions.push(newestFirst ? "seq < ?" : "seq > ?");
      bounds.push(this.#seqOf("after", query.after));
    }
    if (query.before !== undefined) {
      conditions.push(newestFirst ? "seq > ?" : "seq < ?");
      bounds.push(this.#seqOf("before", query.before));
    }
    // What is asked for before a row is what stands nearest to it.
    const backwards = query.before !== undefined && query.after === undefined;
    const direction = newestFirst === backwards ? "ASC" : "DESC";
    const rows = this.#statement(
      `SELECT * FROM ${this.#table} WHERE ${conditions.join(" AND ")} ORDER BY seq ${direction} LIMIT ?`,
    ).all(...values, ...bounds, query.limit + 1);
    const shown = rows.slice(0, query.limit);
    return { rows: backwards ? shown.reverse() : shown, hasMore: rows.length > query.limit };
  }

  #seqOf(param: string, id: string): number {
    const row = this.#place.get(id);
    if (!row) throw unknownCursor(param, id);
    return numberIn(row, "seq");
  }

  #statement(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
