import { ApiProblem, invalidType } from "../api-problem.ts";

/** What has a size: OpenAI words and codes each in its own way. */
export type Sized = "string" | "integer" | "decimal" | "array" | "object";

/** What is said of a size that is too small or too large, or `null`. */
export function outOfBounds(
  sized: Sized,
  path: string,
  size: number,
  bounds: { readonly min?: number; readonly max?: number },
): ApiProblem | null {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = bounds;
  if (size < min) return words[sized](path, size, "min", min);
  return size > max ? words[sized](path, size, "max", max) : null;
}

/** Returns an integer within bounds, also from the digits of a query or form field, or throws. */
export function boundedInteger(
  param: string,
  value: unknown,
  [min, max]: readonly [min: number, max: number],
): number {
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) {
    throw invalidType(param, "an integer", value);
  }
  const problem = outOfBounds("integer", param, number, { min, max });
  if (problem) throw problem;
  return number;
}

/** `400 Invalid 'x': <what>. Expected <expected>, but got <got> instead.` */
export function phrase(
  path: string,
  what: string,
  expected: string,
  got: string | null,
  code: string,
): ApiProblem {
  const rest = got === null ? "" : `, but got ${got} instead`;
  const message = `Invalid '${path}': ${what}. Expected ${expected}${rest}.`;
  return new ApiProblem(400, message, { param: path, code });
}

type Words = (path: string, size: number, side: "min" | "max", limit: number) => ApiProblem;

const ofLength =
  (sized: "string" | "array", article: string): Words =>
  (path, size, side, limit) => {
    const what = `${sized} too ${side === "min" ? "short" : "long"}`;
    const expected = `${article} ${sized} with ${side}imum length ${limit}`;
    const isEmpty = size === 0;
    const got = isEmpty ? `an empty ${sized}` : `${article} ${sized} with length ${size}`;
    const code = isEmpty ? `empty_${sized}` : `${sized}_${beyond[side]}_length`;
    return phrase(path, isEmpty ? `empty ${sized}` : what, expected, got, code);
  };

const ofValue =
  (sized: "integer" | "decimal"): Words =>
  (path, size, side, limit) => {
    const what = `${sized} ${side === "min" ? "below minimum" : "above maximum"} value`;
    const expected = `a value ${side === "min" ? ">=" : "<="} ${limit}`;
    return phrase(path, what, expected, String(size), `${sized}_${beyond[side]}_value`);
  };

const beyond = { min: "below_min", max: "above_max" } as const;

const words: Readonly<Record<Sized, Words>> = {
  string: ofLength("string", "a"),
  array: ofLength("array", "an"),
  integer: ofValue("integer"),
  decimal: ofValue("decimal"),
  object: (path, size, _side, limit) =>
    phrase(
      path,
      "too many properties",
      `an object with at most ${limit} properties`,
      `an object with ${size} properties`,
      "object_above_max_properties",
    ),
};
