import { isPlainObject } from "../../base/freeze.ts";
import type { ApiProblem } from "../api-problem.ts";
import { createInvalidParameterProblem, joinPath, openAIWording } from "./openai-wording.ts";
import type { BoundViolation, Wording } from "./wording.ts";

export { joinPath };

/**
 * Checks a value and returns the error, or `null` if it is valid. Errors use the wording of one API: OpenAI's by
 * default. Validators never throw, so that a long history is checked in one pass.
 */
export type Validator = (value: unknown, path: string, words?: Wording) => ApiProblem | null;

/** Inclusive limits of a size. */
export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Throws the error if the value is invalid. */
export function assertValid(shape: Validator, value: unknown, path: string, words?: Wording): void {
  const problem = shape(value, path, words);
  if (problem) throw problem;
}

/** Accepts any value. */
export const anyValue: Validator = () => null;

/** Accepts `true` and `false`. */
export const boolean: Validator = (value, path, words = openAIWording) =>
  typeof value === "boolean" ? null : words.wrongKind(path, ["boolean"], value);

/** Accepts any object. */
export const anyObject: Validator = (value, path, words = openAIWording) =>
  isPlainObject(value) ? null : words.wrongKind(path, ["object"], value);

/** Accepts strings whose length is within bounds and which match the pattern. */
export function string(bounds: Bounds & { readonly pattern?: RegExp } = {}): Validator {
  const { pattern } = bounds;
  return (value, path, words = openAIWording) => {
    if (typeof value !== "string") return words.wrongKind(path, ["string"], value);
    const excess = findBoundViolation("string", value.length, bounds);
    if (excess) return words.outOfBounds(path, excess);
    return !pattern || pattern.test(value) ? null : words.mismatch(path, pattern);
  };
}

/** Accepts ids with a prefix such as `resp_`. */
export function idWithPrefix(prefix: string): Validator {
  return (value, path, words = openAIWording) => {
    if (typeof value !== "string") return words.wrongKind(path, ["string"], value);
    if (value.startsWith(prefix)) return null;
    const expected = `an ID that begins with '${prefix}'`;
    return createInvalidParameterProblem(path, `'${value}'`, expected, null, "invalid_value");
  };
}

/** Accepts integers within bounds. */
export function integer(bounds: Bounds = {}): Validator {
  return (value, path, words = openAIWording) => {
    if (typeof value !== "number" || !Number.isInteger(value))
      return words.wrongKind(path, ["integer"], value);
    const excess = findBoundViolation("integer", value, bounds);
    return excess && words.outOfBounds(path, excess);
  };
}

/** Accepts finite numbers within bounds. */
export function number(bounds: Bounds = {}): Validator {
  return (value, path, words = openAIWording) => {
    if (typeof value !== "number" || !Number.isFinite(value))
      return words.wrongKind(path, ["decimal"], value);
    const excess = findBoundViolation("decimal", value, bounds);
    return excess && words.outOfBounds(path, excess);
  };
}

/** Returns an integer within bounds, also from the digits of a query or form field. Throws if it is invalid. */
export function readBoundedInteger(
  param: string,
  value: unknown,
  [min, max]: readonly [min: number, max: number],
): number {
  const parsed = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  assertValid(integer({ min, max }), parsed, param);
  return Number(parsed);
}

/** Accepts any of the given strings. */
export function oneOf(...values: readonly string[]): Validator {
  const known = new Set<unknown>(values);
  return (value, path, words = openAIWording) =>
    known.has(value) ? null : words.notOneOf(path, value, values);
}

/** Accepts `null` and the values that the validator accepts. */
export function nullable(shape: Validator): Validator {
  return (value, path, words) => (value === null ? null : shape(value, path, words));
}

/** Accepts arrays whose items are all valid. */
export function array(each: Validator, bounds: Bounds = {}): Validator {
  return (value, path, words = openAIWording) => {
    if (!Array.isArray(value)) return words.wrongKind(path, ["array"], value);
    const excess = findBoundViolation("array", value.length, bounds);
    let problem = excess && words.outOfBounds(path, excess);
    for (let index = 0; index < value.length && !problem; index++)
      problem = each(value[index], words.joinPath(path, index), words);
    return problem;
  };
}

/** Accepts objects with arbitrary keys, up to a number of keys and a key length. */
export function recordOf(
  each: Validator,
  limits: { keys?: number; keyLength?: number } = {},
): Validator {
  const { keys: max = Number.POSITIVE_INFINITY, keyLength = Number.POSITIVE_INFINITY } = limits;
  const key = string({ max: keyLength });
  return (value, path, words = openAIWording) => {
    if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
    const entries = Object.entries(value);
    const excess = findBoundViolation("object", entries.length, { max });
    let problem = excess && words.outOfBounds(path, excess);
    for (const [name, part] of entries)
      problem ??= key(name, path, words) ?? each(part, words.joinPath(path, name), words);
    return problem;
  };
}

/** Accepts objects with these keys and no others. `required` keys must be present. */
export function object(
  required: Readonly<Record<string, Validator>>,
  optional: Readonly<Record<string, Validator>> = {},
): Validator {
  const needed = Object.keys(required);
  const fields = new Map([...Object.entries(required), ...Object.entries(optional)]);
  return (value, path, words = openAIWording) => {
    if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
    const keys = Object.keys(value);
    for (const key of keys)
      if (!fields.has(key)) return words.unknownField(words.joinPath(path, key));
    for (const key of needed)
      if (!Object.hasOwn(value, key)) return words.missing(words.joinPath(path, key));
    for (const key of keys) {
      const problem = fields.get(key)?.(value[key], words.joinPath(path, key), words) ?? null;
      if (problem) return problem;
    }
    return null;
  };
}

/** Accepts several kinds of objects, distinguished by `type` or by another key. */
export function unionByTag(shapes: Readonly<Record<string, Validator>>, key = "type"): Validator {
  const known = new Map(Object.entries(shapes));
  const names = Object.keys(shapes);
  return (value, path, words = openAIWording) => {
    if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
    const type = value[key];
    if (!Object.hasOwn(value, key)) return words.missing(words.joinPath(path, key));
    if (typeof type !== "string")
      return words.wrongKind(words.joinPath(path, key), ["string"], type);
    const shape = known.get(type);
    return shape ? shape(value, path, words) : words.unknownType(path, key, type, names);
  };
}

/** Accepts a string, an array or an object, each with its own validator. */
export function either(shapes: {
  readonly string?: Validator;
  readonly array?: Validator;
  readonly object?: Validator;
}): Validator {
  const kinds = (["string", "array", "object"] as const).filter((kind) => shapes[kind]);
  return (value, path, words = openAIWording) => {
    const actual = Array.isArray(value) ? "array" : isPlainObject(value) ? "object" : typeof value;
    const kind = kinds.find((one) => one === actual);
    const shape = kind && shapes[kind];
    return shape ? shape(value, path, words) : words.wrongKind(path, kinds, value);
  };
}

function findBoundViolation(
  kind: BoundViolation["kind"],
  size: number,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Bounds,
): BoundViolation | null {
  if (size < min) return { kind, size, side: "min", limit: min };
  return size > max ? { kind, size, side: "max", limit: max } : null;
}
