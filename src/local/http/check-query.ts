import { invalidType, unknownParameter } from "../api-problem.ts";
import { type PageLimits, type PageQuery, readPageQuery } from "../store/paging.ts";
import { readBoundedInteger } from "../validators/validator.ts";
import type { RouteRequest } from "./route-request.ts";

/**
 * Throws OpenAI's error if a request has a query parameter that is not in the list of its route. Every route
 * calls it, or `readListQuery`. A name that ends in `[]` takes several values: `include[]` accepts `include`,
 * `include[]` and `include[0]`.
 *
 * @example
 * ```ts
 * checkQuery(context.req, "stream", "include[]");
 * ```
 */
export function checkQuery(request: RouteRequest, ...known: readonly string[]): void {
  if (!request.hasQuery) return;
  for (const name of request.search.keys())
    if (!known.includes(name) && !known.includes(toListName(name))) throw unknownParameter(name);
}

const PAGE_PARAMETERS = ["limit", "order", "after", "before"];

/** Reads the parameters of a route that returns one page of a list. `others` are the route's own parameters. */
export function readListQuery(
  request: RouteRequest,
  others: readonly string[] = [],
  limits: PageLimits = {},
): PageQuery {
  checkQuery(request, ...PAGE_PARAMETERS, ...others);
  return readPageQuery((name) => request.query(name), limits);
}

/** Reads a parameter that is `true` or `false`. @default false */
export function readQueryFlag(request: RouteRequest, name: string): boolean {
  const value = request.query(name);
  if (value === undefined || value === "false") return false;
  if (value !== "true") throw invalidType(name, "a boolean", value);
  return true;
}

/** Reads a parameter that is an integer from `min`; `null` if the request does not have it. */
export function readQueryInteger(
  request: RouteRequest,
  name: string,
  { min }: { readonly min: number },
): number | null {
  const value = request.query(name);
  return value === undefined
    ? null
    : readBoundedInteger(name, value, [min, Number.MAX_SAFE_INTEGER]);
}

/** Reads all values of a parameter that takes several: `include=a`, `include[]=a`, `include[0]=a`. */
export function readQueryList(request: RouteRequest, name: string): readonly string[] {
  if (!request.hasQuery) return [];
  return [...request.search].flatMap(([key, value]) =>
    key === name || toListName(key) === `${name}[]` ? [value] : [],
  );
}

function toListName(name: string): string {
  return `${name.replace(/\[\d*\]$/, "")}[]`;
}
