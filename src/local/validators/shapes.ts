import { isPlainObject } from "../../base/freeze.ts";
import {
  type ApiProblem,
  invalidType,
  invalidValue,
  missingParameter,
  unknownParameter,
} from "../api-problem.ts";
import { outOfBounds, phrase } from "./bounds.ts";

/**
 * Says what is wrong with a value, or `null`. `path` names it as OpenAI does: `tools[0].container`.
 * Nothing is thrown on the way, so that a long history is checked in one pass.
 */
export type Shape = (value: unknown, path: string) => ApiProblem | null;

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Any value at all. */
export const anything: Shape = () => null;

/** `true` or `false`. */
export const flag: Shape = (value, path) =>
  typeof value === "boolean" ? null : invalidType(path, "a boolean", value);

/** An object whose keys are not ours to know. */
export const anyObject: Shape = (value, path) =>
  isPlainObject(value) ? null : invalidType(path, "an object", value);

/** A string, its length within bounds, and of a pattern. */
export function text(bounds: Bounds & { readonly pattern?: RegExp } = {}): Shape {
  return (value, path) => {
    if (typeof value !== "string") return invalidType(path, "a string", value);
    const { pattern } = bounds;
    const problem = outOfBounds("string", path, value.length, bounds);
    if (problem || !pattern || pattern.test(value)) return problem;
    return phrase(
      path,
      "string does not match pattern",
      `a string that matches the pattern '${pattern.source}'`,
      null,
      "invalid_value",
    );
  };
}

/** A string that begins as OpenAI's ids of that sort do. */
export function idOf(prefix: string): Shape {
  return (value, path) => {
    if (typeof value !== "string") return invalidType(path, "a string", value);
    if (value.startsWith(prefix)) return null;
    const expected = `an ID that begins with '${prefix}'`;
    return phrase(path, `'${value}'`, expected, null, "invalid_value");
  };
}

/** A whole number within bounds. */
export function integer(bounds: Bounds = {}): Shape {
  return (value, path) =>
    typeof value === "number" && Number.isInteger(value)
      ? outOfBounds("integer", path, value, bounds)
      : invalidType(path, "an integer", value);
}

/** Any finite number within bounds. */
export function decimal(bounds: Bounds = {}): Shape {
  return (value, path) =>
    typeof value === "number" && Number.isFinite(value)
      ? outOfBounds("decimal", path, value, bounds)
      : invalidType(path, "a decimal", value);
}

/** One of a few strings. */
export function oneOf(...values: readonly string[]): Shape {
  const known = new Set(values);
  return (value, path) => {
    if (typeof value !== "string") return invalidType(path, `one of ${listed(values)}`, value);
    return known.has(value) ? null : invalidValue(path, value, values);
  };
}

/** The same, or `null`. */
export function maybe(shape: Shape): Shape {
  return (value, path) => (value === null ? null : shape(value, path));
}

/** A list of the same things. */
export function list(each: Shape, bounds: Bounds = {}): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return invalidType(path, "an array", value);
    let problem = outOfBounds("array", path, value.length, bounds);
    for (let index = 0; index < value.length && !problem; index++)
      problem = each(value[index], `${path}[${index}]`);
    return problem;
  };
}

/** An object with any keys, up to a number and a length of them. */
export function map(each: Shape, limits: { keys?: number; keyLength?: number } = {}): Shape {
  const { keys: max = Number.POSITIVE_INFINITY, keyLength = Number.POSITIVE_INFINITY } = limits;
  const key = text({ max: keyLength });
  return (value, path) => {
    if (!isPlainObject(value)) return invalidType(path, "an object", value);
    const entries = Object.entries(value);
    let problem = outOfBounds("object", path, entries.length, { max });
    for (const [name, part] of entries) problem ??= key(name, path) ?? each(part, at(path, name));
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
  return (value, path) => {
    if (!isPlainObject(value)) return invalidType(path, "an object", value);
    const keys = Object.keys(value);
    for (const key of keys) if (!fields.has(key)) return unknownParameter(at(path, key));
    for (const key of needed)
      if (!Object.hasOwn(value, key)) return missingParameter(at(path, key));
    for (const key of keys) {
      const problem = fields.get(key)?.(value[key], at(path, key)) ?? null;
      if (problem) return problem;
    }
    return null;
  };
}

/** One of several objects, told apart by `type` (or by another key). */
export function byType(shapes: Readonly<Record<string, Shape>>, key = "type"): Shape {
  const known = new Map(Object.entries(shapes));
  const names = Object.keys(shapes);
  return (value, path) => {
    if (!isPlainObject(value)) return invalidType(path, "an object", value);
    const type = value[key];
    if (!Object.hasOwn(value, key)) return missingParameter(at(path, key));
    if (typeof type !== "string") return invalidType(at(path, key), "a string", type);
    return known.get(type)?.(value, path) ?? refusedType(type, path);
  };

  function refusedType(type: string, path: string): ApiProblem | null {
    return known.has(type) ? null : invalidValue(at(path, key), type, names);
  }
}

/** A string, a list, or an object: each with a shape of its own. */
export function either(shapes: {
  readonly string?: Shape;
  readonly array?: Shape;
  readonly object?: Shape;
}): Shape {
  const names = Object.keys(shapes).map((name) => kinds.get(name) ?? name);
  const expected = `one of ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return (value, path) => {
    const kind = kindOf(value);
    const shape = kind === null ? null : shapes[kind];
    return shape ? shape(value, path) : invalidType(path, expected, value);
  };
}

const kinds: ReadonlyMap<string, string> = new Map([
  ["string", "a string"],
  ["array", "an array"],
  ["object", "an object"],
]);

function kindOf(value: unknown): "string" | "array" | "object" | null {
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return "string";
  return isPlainObject(value) ? "object" : null;
}

/** Where a key is: `""` is the body itself. */
export function at(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function listed(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.pop();
  if (quoted.length === 0) return `${last}`;
  return `${quoted.join(", ")}${quoted.length > 1 ? "," : ""} or ${last}`;
}
