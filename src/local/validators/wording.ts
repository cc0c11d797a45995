import type { ApiProblem } from "../api-problem.ts";

/** The type of a JSON value. */
export type Kind = "boolean" | "object" | "string" | "integer" | "decimal" | "array";

/** A value that is too small or too large: by its length, its value or its number of keys. */
export interface BoundViolation {
  readonly kind: Exclude<Kind, "boolean">;
  readonly size: number;
  /** The bound that the value exceeds. */
  readonly side: "min" | "max";
  readonly limit: number;
}

/** The error messages of one API, and how it writes the path of a value. */
export interface Wording {
  /** Returns the path of a field or an array item. `path` is `""` for the body. */
  joinPath(path: string, key: string | number): string;
  /** The value does not have an expected type. */
  wrongKind(path: string, expected: readonly Kind[], value: unknown): ApiProblem;
  /** The field is required. */
  missing(path: string): ApiProblem;
  /** The object has an unknown field. */
  unknownField(path: string): ApiProblem;
  /** The value is not a known string. */
  notOneOf(path: string, value: unknown, known: readonly string[]): ApiProblem;
  /** The object at `path` has an unknown type in `key`. */
  unknownType(path: string, key: string, type: string, known: readonly string[]): ApiProblem;
  /** The value's size is out of bounds. */
  outOfBounds(path: string, excess: BoundViolation): ApiProblem;
  /** The string does not match the pattern. */
  mismatch(path: string, pattern: RegExp): ApiProblem;
}
