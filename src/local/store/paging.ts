import type { SQLInputValue } from "node:sqlite";
import { ApiProblem, invalidValue } from "../api-problem.ts";
import { readBoundedInteger } from "../validators/validator.ts";
import type { Database } from "./database.ts";
import { type Row, readNumberColumn } from "./row.ts";

/** A client's request for one page of a list. */
export interface PageQuery {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** The page starts after the item with this id. */
  readonly after?: string | undefined;
  /** The page ends before the item with this id. */
  readonly before?: string | undefined;
}

/** Limits of the page size. */
export interface PageLimits {
  /** The largest limit a client may request. @default 100 */
  readonly max?: number | undefined;
  /** The limit if the client requests none. @default 20 */
  readonly defaultLimit?: number | undefined;
}

/** Validates `?limit=20&order=desc&after=x&before=y`: `readPageQuery((name) => context.req.query(name))`. */
export function readPageQuery(
  query: (name: string) => string | undefined,
  { max = 100, defaultLimit = 20 }: PageLimits = {},
): PageQuery {
  const order = query("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidValue("order", order, ["asc", "desc"]);
  const limit = query("limit");
  return {
    limit: limit === undefined ? defaultLimit : readBoundedInteger("limit", limit, [1, max]),
    order,
    after: query("after"),
    before: query("before"),
  };
}

/** One page of a list in OpenAI's format. */
export interface ListPage<Item> {
  readonly object: "list";
  readonly data: readonly Item[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Converts one page, already in order, to OpenAI's list object. */
export function toPage<Item extends { readonly id: string }>(
  data: readonly Item[],
  hasMore: boolean,
): ListPage<Item> {
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: "list", data, first_id, last_id, has_more: hasMore };
}

/** Selects the rows of a table that belong to a list. */
export interface RowList {
  readonly table: string;
  /** A SQL condition that selects the rows. `values` are its parameters. */
  readonly where: string;
  readonly values: readonly SQLInputValue[];
  /** The column that increases with each row. @default "seq" */
  readonly place?: string | undefined;
  /** The column with the ids that clients see. @default "id" */
  readonly id?: string | undefined;
  /**
   * A SQL condition on the rows that a cursor may name, with the same `values`. By default a cursor may name any
   * row of the table, including deleted ones, so that a client can delete items while it pages.
   */
  readonly cursorsWhere?: string | undefined;
}

/** Reads one page of a table in the requested order, without reading the rows of other pages. */
export function readRowPage(
  database: Pick<Database, "prepare">,
  list: RowList,
  query: PageQuery,
): { readonly rows: readonly Row[]; readonly hasMore: boolean } {
  const { table, where, values, place = "seq", id = "id", cursorsWhere } = list;
  const { above, below, isFromLow } = findRange(query, (cursor) => {
    const select = `SELECT ${place} AS place FROM ${table} WHERE ${cursorsWhere ?? "TRUE"} AND ${id} = ?`;
    const row = database.prepare(select).get(...(cursorsWhere ? values : []), cursor);
    return row && readNumberColumn(row, "place");
  });
  const bounds = [
    ...(above === null ? [] : [`${place} > ${above}`]),
    ...(below === null ? [] : [`${place} < ${below}`]),
  ];
  const conditions = [where, ...bounds].join(" AND ");
  const order = `${place} ${isFromLow ? "ASC" : "DESC"}`;
  const found = database
    .prepare(`SELECT * FROM ${table} WHERE ${conditions} ORDER BY ${order} LIMIT ?`)
    .all(...values, query.limit + 1);
  const rows = found.slice(0, query.limit);
  const isInOrder = isFromLow === (query.order === "asc");
  return { rows: isInOrder ? rows : rows.reverse(), hasMore: found.length > query.limit };
}

/**
 * Returns which of the positions `from` to `to` (exclusive) are on a page. `findPositions` returns the positions of an
 * id. If there are several, the first in the order of the list counts.
 */
export function findPositionPage(
  { from, to }: { readonly from: number; readonly to: number },
  query: PageQuery,
  findPositions: (id: string) => readonly number[],
): { readonly from: number; readonly to: number; readonly hasMore: boolean } {
  const { above, below, isFromLow } = findRange(query, (id) => {
    const positions = findPositions(id).toSorted((one, other) => one - other);
    return positions.at(query.order === "asc" ? 0 : -1);
  });
  const first = above === null ? from : above + 1;
  const end = Math.max(first, below ?? to);
  const hasMore = end - first > query.limit;
  return isFromLow
    ? { from: first, to: Math.min(end, first + query.limit), hasMore }
    : { from: Math.max(first, end - query.limit), to: end, hasMore };
}

/** Creates the error for a cursor that names no item of the list. */
export function createCursorProblem(param: string, id: string): ApiProblem {
  const message = `Invalid '${param}': no item with id '${id}' is in this list.`;
  return new ApiProblem(400, message, { param, code: "invalid_value" });
}

/** The positions between two cursors. A page takes its items from one end. */
interface CursorRange {
  readonly above: number | null;
  readonly below: number | null;
  readonly isFromLow: boolean;
}

function findRange(
  query: PageQuery,
  findPosition: (id: string) => number | undefined,
): CursorRange {
  const findCursor = (param: "after" | "before"): number | null => {
    const id = query[param];
    if (id === undefined) return null;
    const position = findPosition(id);
    if (position === undefined) throw createCursorProblem(param, id);
    return position;
  };
  const [after, before] = [findCursor("after"), findCursor("before")];
  // A page before an item contains the items nearest to it.
  const isNearest = before !== null && after === null;
  return query.order === "asc"
    ? { above: after, below: before, isFromLow: !isNearest }
    : { above: before, below: after, isFromLow: isNearest };
}
