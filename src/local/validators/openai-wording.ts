import {
  ApiProblem,
  createMissingParameterProblem,
  invalidType,
  invalidValue,
  unknownParameter,
} from "../api-problem.ts";
import type { BoundViolation, Kind, Wording } from "./wording.ts";

/** OpenAI's error messages: `Missing required parameter: 'tools[0].name'.` */
export const openAIWording: Wording = {
  joinPath,
  wrongKind: (path, expected, value) => invalidType(path, nameKinds(expected), value),
  missing: createMissingParameterProblem,
  unknownField: unknownParameter,
  notOneOf: (path, value, known) =>
    typeof value === "string"
      ? invalidValue(path, value, known)
      : invalidType(path, `one of ${quoteAll(known)}`, value),
  unknownType: (path, key, type, known) => invalidValue(joinPath(path, key), type, known),
  outOfBounds: (path, excess) => BOUNDS[excess.kind](path, excess),
  mismatch: (path, pattern) => {
    const expected = `a string that matches the pattern '${pattern.source}'`;
    return createInvalidParameterProblem(
      path,
      "string does not match pattern",
      expected,
      null,
      "invalid_value",
    );
  },
};

/** `400 Invalid 'x': <what>. Expected <expected>, but got <got> instead.` */
export function createInvalidParameterProblem(
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

/** Returns the path of a field or an array item: `tools[0].container`. `""` is the body. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return path === "" ? key : `${path}.${key}`;
}

type Words = (path: string, excess: BoundViolation) => ApiProblem;

const createLengthWording =
  (noun: "string" | "array", article: string): Words =>
  (path, { size, side, limit }) => {
    const what = `${noun} too ${side === "min" ? "short" : "long"}`;
    const expected = `${article} ${noun} with ${side}imum length ${limit}`;
    const isEmpty = size === 0;
    const got = isEmpty ? `an empty ${noun}` : `${article} ${noun} with length ${size}`;
    const code = isEmpty ? `empty_${noun}` : `${noun}_${BEYOND[side]}_length`;
    return createInvalidParameterProblem(
      path,
      isEmpty ? `empty ${noun}` : what,
      expected,
      got,
      code,
    );
  };

const createValueWording =
  (noun: "integer" | "decimal"): Words =>
  (path, { size, side, limit }) => {
    const what = `${noun} ${side === "min" ? "below minimum" : "above maximum"} value`;
    const expected = `a value ${side === "min" ? ">=" : "<="} ${limit}`;
    return createInvalidParameterProblem(
      path,
      what,
      expected,
      String(size),
      `${noun}_${BEYOND[side]}_value`,
    );
  };

const BEYOND = { min: "below_min", max: "above_max" } as const;

const BOUNDS: Readonly<Record<BoundViolation["kind"], Words>> = {
  string: createLengthWording("string", "a"),
  array: createLengthWording("array", "an"),
  integer: createValueWording("integer"),
  decimal: createValueWording("decimal"),
  object: (path, { size, limit }) =>
    createInvalidParameterProblem(
      path,
      "too many properties",
      `an object with at most ${limit} properties`,
      `an object with ${size} properties`,
      "object_above_max_properties",
    ),
};

function nameKinds(kinds: readonly Kind[]): string {
  const names = kinds.map((kind) => `${/^[aio]/.test(kind) ? "an" : "a"} ${kind}`);
  const last = names.pop();
  return names.length === 0 ? `${last}` : `one of ${names.join(", ")} or ${last}`;
}

function quoteAll(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.pop();
  if (quoted.length === 0) return `${last}`;
  return `${quoted.join(", ")}${quoted.length > 1 ? "," : ""} or ${last}`;
}
