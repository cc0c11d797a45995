import { ApiProblem, invalidType, invalidValue } from "../api-problem.ts";

/** Which part of a list is asked for. */
export interface PageQuery {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** The id that the page follows. */
  readonly after?: string | undefined;
  /** The id that the page comes before. */
  readonly before?: string | undefined;
}

/** A part of a list, as OpenAI answers it. */
export interface ListPage<Item> {
  readonly object: "list";
  readonly data: readonly Item[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** How many a list gives. */
export interface PageLimits {
  /** @default 100 */
  readonly max?: number | undefined;
  /** @default 20 */
  readonly usual?: number | undefined;
}

/** `?limit=20&order=desc&after=x&before=y`, checked: `pageQuery((name) => context.req.query(name))`. */
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

/** A number out of bounds is refused in OpenAI's words; so is what is no integer. */
export function boundedInteger(
  param: string,
  value: unknown,
  [min, max]: readonly [min: number, max: number],
): number {
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) {
    throw invalidType(param, "an integer", value);
  }
  if (number >= min && number <= max) return number;
  const [side, bound, code] =
    number < min
      ? ["below minimum", `>= ${min}`, "integer_below_min_value"]
      : ["above maximum", `<= ${max}`, "integer_above_max_value"];
  const message = `Invalid '${param}': integer ${side} value. Expected a value ${bound}, but got ${number} instead.`;
  throw new ApiProblem(400, message, { param, code });
}

/** Items that are the page already, in its order. */
export function toPage<Item extends { readonly id: string }>(
  data: readonly Item[],
  hasMore: boolean,
): ListPage<Item> {
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** A cursor that names nothing. */
export function unknownCursor(param: string, id: string): ApiProblem {
  const message = `Invalid '${param}': no item with id '${id}' is in this list.`;
  return new ApiProblem(400, message, { param, code: "invalid_value" });
}
