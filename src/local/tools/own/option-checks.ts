import { createUnknownKeyError, InvalidOptionError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { quoteNames } from "../../../base/quote-value.ts";

/** Remedy for an optional field with a wrong value. */
export const OMIT_REMEDY = "omit it, or pass a value as documented for LocalTool";

/** Pattern for types of tools and items on the wire. */
export const WIRE_NAME_PATTERN = /^[a-z0-9_-]{1,64}$/;

/** Pattern for names of functions that a model calls. */
export const FUNCTION_NAME_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/;

/** Names already in use, with their owners. */
export type ReservedNames = Map<string, string>;

/** Throws if a name is malformed or already in use; otherwise reserves it for `by`. */
export function reserveName(
  name: unknown,
  field: string,
  { names, by, pattern = WIRE_NAME_PATTERN }: NameReservation,
): asserts name is string {
  if (typeof name !== "string" || !pattern.test(name)) {
    const letters = pattern === WIRE_NAME_PATTERN ? "a-z" : "a-z, A-Z";
    throwInvalidOption(
      field,
      name,
      `must be 1-64 of ${letters}, 0-9, _ and -`,
      'use a name like "my_tool"',
    );
  }
  const owner = names.get(name);
  if (owner !== undefined)
    throwInvalidOption(field, name, `must not be a name of ${owner}`, "choose another name");
  names.set(name, by);
}

/** Options of {@link reserveName}. */
export interface NameReservation {
  readonly names: ReservedNames;
  readonly by: string;
  /** Pattern that the name must match. @default the pattern for types on the wire */
  readonly pattern?: RegExp;
}

/** Throws if a value is not an object or has unknown fields. */
export function checkKeys(
  value: unknown,
  field: string,
  known: readonly string[],
): asserts value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throwInvalidOption(
      field,
      value,
      "must be an object",
      `pass an object with ${quoteNames(known)}`,
    );
  if (!isPlainObject(value)) return; // a class instance may have other fields
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw createUnknownKeyError(unknown, field, known);
}

/** Throws if an existing field is not a function. */
export function checkFunctions(value: object, field: string, names: readonly string[]): void {
  for (const name of names) {
    const given: unknown = Reflect.get(value, name);
    if (given === undefined || typeof given === "function") continue;
    throwInvalidOption(`${field}.${name}`, given, "must be a function", OMIT_REMEDY);
  }
}

/** Throws if a value is not a string, or blank. */
export function checkNonBlank(value: unknown, field: string): void {
  if (typeof value === "string" && value.trim() !== "") return;
  throwInvalidOption(field, value, "must be a non-blank string", OMIT_REMEDY);
}

/** Throws the error for an invalid option. */
export function throwInvalidOption(
  field: string,
  value: unknown,
  rule: string,
  remedy: string,
): never {
  throw new InvalidOptionError({ field, value, rule, remedy });
}
