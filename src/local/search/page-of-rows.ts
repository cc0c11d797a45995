import type { Database } from "../store/database.ts";
import { type PageQuery, unknownCursor } from "../store/list-page.ts";
import { numberIn, type Row } from "../store/row.ts";

/** Which rows a list is of: a table with a `row`, the column that clients know rows by, and a condition. */
export interface RowScope {
  readonly table: string;
  readonly id: string;
  readonly where: string;
  readonly values: readonly (string | number)[];
}

/** One page of a table, without reading the others. */
export function pageOfRows(
  database: Pick<Database, "prepare">,
  scope: RowScope,
  query: PageQuery,
): { readonly rows: readonly Row[]; readonly hasMore: boolean } {
  const { table, where, values } = scope;
  const isDescending = query.order === "desc";
  const bounds = [
    ...bound(database, scope, "after", query.after, isDescending ? "<" : ">"),
    ...bound(database, scope, "before", query.before, isDescending ? ">" : "<"),
  ];
  // What is asked for before an item is what stands nearest to it.
  const isBackwards = query.before !== undefined && query.after === undefined;
  const direction = isDescending === isBackwards ? "ASC" : "DESC";
  const conditions = [where, ...bounds].join(" AND ");
  const found = database
    .prepare(`SELECT * FROM ${table} WHERE ${conditions} ORDER BY row ${direction} LIMIT ?`)
    .all(...values, query.limit + 1);
  const rows = found.slice(0, query.limit);
  return { rows: isBackwards ? rows.toReversed() : rows, hasMore: found.length > query.limit };
}

function bound(
  database: Pick<Database, "prepare">,
  { table, id, where, values }: RowScope,
  param: string,
  cursor: string | undefined,
  side: "<" | ">",
): readonly string[] {
  if (cursor === undefined) return [];
  const row = database
    .prepare(`SELECT row FROM ${table} WHERE ${where} AND ${id} = ?`)
    .get(...values, cursor);
  if (row === undefined) throw unknownCursor(param, cursor);
  return [`row ${side} ${numberIn(row, "row")}`];
}
