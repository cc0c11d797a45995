import { isPlainObject } from "../../base/freeze.ts";
import type { ApiProblem } from "../api-problem.ts";
import { at, openAIWording, phrase } from "./openai-wording.ts";
import type { Excess, Wording } from "./wording.ts";

export { at };

/**
 * Says what is wrong with a value, or `null`, in the words of one API: OpenAI's unless others are
 * passed. Nothing is thrown on the way, so that a long history is checked in one pass.
 */
export type Shape = (value: unknown, path: string, words?: Wording) => ApiProblem | null;

/** The least and the most that a size may be. */
export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Throws what is wrong with a value. */
export function assertShape(shape: Shape, value: unknown, path: string, words?: Wording): void {
  const problem = shape(value, path, words);
  if (problem) throw problem;
}

/** Any value at all. */
export const anything: Shape = () => null;

/** `true` or `false`. */
export const flag: Shape = (value, path, words = openAIWording) =>
  typeof value === "boolean" ? null : words.wrongKind(path, ["boolean"], value);

/** An object whose keys are not known. */
export const anyObject: Shape = (value, path, words = openAIWording) =>
  isPlainObject(value) ? null : words.wrongKind(path, ["object"], value);

/** A string whose length is within bounds and which matches a pattern. */
export function text(bounds: Bounds & { readonly pattern?: RegExp } = {}): Shape {
  const { pattern } = bounds;
  return (value, path, words = openAIWording) => {
    if (typeof value !== "string") return words.wrongKind(path, ["string"], value);
    const excess = findExcess("string", value.length, bounds);
    if (excess) return words.outOfBounds(path, excess);
    return !pattern || pattern.test(value) ? null : words.mismatch(path, pattern);
  };
}

/** A string that begins as OpenAI's ids of that sort do. */
export function idOf(prefix: string): Shape {
  return (value, path, words = openAIWording) => {
    if (typeof value !== "string") return words.wrongKind(path, ["string"], value);
    if (value.startsWith(prefix)) return null;
    const expected = `an ID that begins with '${prefix}'`;
    return phrase(path, `'${value}'`, expected, null, "invalid_value");
  };
}

/** A whole number within bounds. */
export function integer(bounds: Bounds = {}): Shape {
  return (value, path, words = openAIWording) => {
    if (typeof value !== "number" || !Number.isInteger(value))
      return words.wrongKind(path, ["integer"], value);
    const excess = findExcess("integer", value, bounds);
    return excess && words.outOfBounds(path, excess);
  };
}

/** A finite number within bounds. */
export function decimal(bounds: Bounds = {}): Shape {
  return (value, path, words = openAIWording) => {
    if (typeof value !== "number" || !Number.isFinite(value))
      return words.wrongKind(path, ["decimal"], value);
    const excess = findExcess("decimal", value, bounds);
    return excess && words.outOfBounds(path, excess);
  };
}

/** Returns an integer within bounds, also from the digits of a query or form field, or throws. */
export function boundedInteger(
  param: string,
  value: unknown,
  [min, max]: readonly [min: number, max: number],
): number {
  const given = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  assertShape(integer({ min, max }), given, param);
  return Number(given);
}

/** One of a few strings. */
export function oneOf(...values: readonly string[]): Shape {
  const known = new Set<unknown>(values);
  return (value, path, words = openAIWording) =>
    known.has(value) ? null : words.notOneOf(path, value, values);
}

/** A value of the shape, or `null`. */
export function maybe(shape: Shape): Shape {
  return (value, path, words) => (value === null ? null : shape(value, path, words));
}

/** A list whose items all have one shape. */
export function list(each: Shape, bounds: Bounds = {}): Shape {
  return (value, path, words = openAIWording) => {
    if (!Array.isArray(value)) return words.wrongKind(path, ["array"], value);
    const excess = findExcess("array", value.length, bounds);
    let problem = excess && words.outOfBounds(path, excess);
    for (let index = 0; index < value.length && !problem; index++)
      problem = each(value[index], words.at(path, index), words);
    return problem;
  };
}

/** An object with any keys, up to a number and a length of them. */
export function map(each: Shape, limits: { keys?: number; keyLength?: number } = {}): Shape {
  const { keys: max = Number.POSITIVE_INFINITY, keyLength = Number.POSITIVE_INFINITY } = limits;
  const key = text({ max: keyLength });
  return (value, path, words = openAIWording) => {
    if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
    const entries = Object.entries(value);
    const excess = findExcess("object", entries.length, { max });
    let problem = excess && words.outOfBounds(path, excess);
    for (const [name, part] of entries)
      problem ??= key(name, path, words) ?? each(part, words.at(path, name), words);
    return problem;
  };
}

/** An object with these keys and no others; `required` ones must be there. */
export function object(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  const needed = Object.keys(required);
  const fields = new Map([...Object.entries(required), ...Object.entries(optional)]);
  return (value, path, words = openAIWording) => {
    if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
    const keys = Object.keys(value);
    for (const key of keys) if (!fields.has(key)) return words.unknownField(words.at(path, key));
    for (const key of needed)
      if (!Object.hasOwn(value, key)) return words.missing(words.at(path, key));
    for (const key of keys) {
      const problem = fields.get(key)?.(value[key], words.at(path, key), words) ?? null;
      if (problem) return problem;
    }
    return null;
  };
}

/** One of several objects, distinguished by `type` or by another key. */
export function byType(shapes: Readonly<Record<string, Shape>>, key = "type"): Shape {
  const known = new Map(Object.entries(shapes));
  const names = Object.keys(shapes);
  return (value, path, words = openAIWording) => {
    if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
    const type = value[key];
    if (!Object.hasOwn(value, key)) return words.missing(words.at(path, key));
    if (typeof type !== "string") return words.wrongKind(words.at(path, key), ["string"], type);
    const shape = known.get(type);
    return shape ? shape(value, path, words) : words.unknownType(path, key, type, names);
  };
}

/** A string, a list or an object, each with a shape of its own. */
export function either(shapes: {
  readonly string?: Shape;
  readonly array?: Shape;
  readonly object?: Shape;
}): Shape {
  const kinds = (["string", "array", "object"] as const).filter((kind) => shapes[kind]);
  return (value, path, words = openAIWording) => {
    const given = Array.isArray(value) ? "array" : isPlainObject(value) ? "object" : typeof value;
    const kind = kinds.find((one) => one === given);
    const shape = kind && shapes[kind];
    return shape ? shape(value, path, words) : words.wrongKind(path, kinds, value);
  };
}

function findExcess(
  kind: Excess["kind"],
  size: number,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Bounds,
): Excess | null {
  if (size < min) return { kind, size, side: "min", limit: min };
  return size > max ? { kind, size, side: "max", limit: max } : null;
}
