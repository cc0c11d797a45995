import type { SQLInputValue } from "node:sqlite";
import { ApiProblem, invalidValue } from "../api-problem.ts";
import { boundedInteger } from "../validators/shapes.ts";
import type { Database } from "./database.ts";
import { numberIn, type Row } from "./row.ts";

/** Which part of a list a client asks for. */
export interface PageQuery {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** The id that the page follows. */
  readonly after?: string | undefined;
  /** The id that the page comes before. */
  readonly before?: string | undefined;
}

/** How many items a list returns. */
export interface PageLimits {
  /** @default 100 */
  readonly max?: number | undefined;
  /** @default 20 */
  readonly usual?: number | undefined;
}

/** Checks `?limit=20&order=desc&after=x&before=y`: `pageQuery((name) => context.req.query(name))`. */
export function pageQuery(
  query: (name: string) => string | undefined,
  { max = 100, usual = 20 }: PageLimits = {},
): PageQuery {
  const order = query("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidValue("order", order, ["asc", "desc"]);
  const limit = query("limit");
  return {
    limit: limit === undefined ? usual : boundedInteger("limit", limit, [1, max]),
    order,
    after: query("after"),
    before: query("before"),
  };
}

/** A part of a list, as OpenAI answers it. */
export interface ListPage<Item> {
  readonly object: "list";
  readonly data: readonly Item[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Converts the items of one page, already in its order, to OpenAI's list object. */
export function toPage<Item extends { readonly id: string }>(
  data: readonly Item[],
  hasMore: boolean,
): ListPage<Item> {
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: "list", data, first_id, last_id, has_more: hasMore };
}

/** Which rows of a table make a list. */
export interface RowList {
  readonly table: string;
  /** A condition on the rows of the list, with its `values`. */
  readonly where: string;
  readonly values: readonly SQLInputValue[];
  /** The column that grows with each row. @default "seq" */
  readonly place?: string | undefined;
  /** The column that has the ids which clients know. @default "id" */
  readonly id?: string | undefined;
  /**
   * A condition on the rows that a cursor may name, with the same `values`. By default it may name any
   * row of the table: also one marked as deleted, so that a client can delete while it pages.
   */
  readonly cursorsWhere?: string | undefined;
}

/** Reads one page of a table in the order asked for, without reading the rows of other pages. */
export function readRowPage(
  database: Pick<Database, "prepare">,
  list: RowList,
  query: PageQuery,
): { readonly rows: readonly Row[]; readonly hasMore: boolean } {
  const { table, where, values, place = "seq", id = "id", cursorsWhere } = list;
  const { above, below, isFromLow } = findStretch(query, (cursor) => {
    const select = `SELECT ${place} AS place FROM ${table} WHERE ${cursorsWhere ?? "TRUE"} AND ${id} = ?`;
    const row = database.prepare(select).get(...(cursorsWhere ? values : []), cursor);
    return row && numberIn(row, "place");
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
 * Returns which of the places `from` to `to` (exclusive) are on a page. `findPlaces` returns where an
 * id stands; of several places, the first in the order of the list counts.
 */
export function findPlacePage(
  { from, to }: { readonly from: number; readonly to: number },
  query: PageQuery,
  findPlaces: (id: string) => readonly number[],
): { readonly from: number; readonly to: number; readonly hasMore: boolean } {
  const { above, below, isFromLow } = findStretch(query, (id) => {
    const places = findPlaces(id).toSorted((one, other) => one - other);
    return places.at(query.order === "asc" ? 0 : -1);
  });
  const first = above === null ? from : above + 1;
  const end = Math.max(first, below ?? to);
  const hasMore = end - first > query.limit;
  return isFromLow
    ? { from: first, to: Math.min(end, first + query.limit), hasMore }
    : { from: Math.max(first, end - query.limit), to: end, hasMore };
}

/** The error for a cursor that names no item. */
export function unknownCursor(param: string, id: string): ApiProblem {
  const message = `Invalid '${param}': no item with id '${id}' is in this list.`;
  return new ApiProblem(400, message, { param, code: "invalid_value" });
}

/** Places between two cursors; a page takes its items from one end of them. */
interface Stretch {
  readonly above: number | null;
  readonly below: number | null;
  readonly isFromLow: boolean;
}

function findStretch(query: PageQuery, findPlace: (id: string) => number | undefined): Stretch {
  const find = (param: "after" | "before"): number | null => {
    const id = query[param];
    if (id === undefined) return null;
    const place = findPlace(id);
    if (place === undefined) throw unknownCursor(param, id);
    return place;
  };
  const [after, before] = [find("after"), find("before")];
  // A page before an item holds the items nearest to it.
  const isNearest = before !== null && after === null;
  return query.order === "asc"
    ? { above: after, below: before, isFromLow: !isNearest }
    : { above: before, below: after, isFromLow: isNearest };
}
