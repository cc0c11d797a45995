import type { ApiProblem } from "../api-problem.ts";

/** What a JSON value may be. */
export type Kind = "boolean" | "object" | "string" | "integer" | "decimal" | "array";

/** A value that is too small or too large: by its length, its value or its number of keys. */
export interface Excess {
  readonly kind: Exclude<Kind, "boolean">;
  readonly size: number;
  /** Which bound it exceeds. */
  readonly side: "min" | "max";
  readonly limit: number;
}

/** How one API says what is wrong with a request, and how it writes the path of a value. */
export interface Wording {
  /** The path of a field, or of an item of a list. `path` is `""` for the body itself. */
  at(path: string, key: string | number): string;
  /** The value is of none of the expected kinds. */
  wrongKind(path: string, expected: readonly Kind[], value: unknown): ApiProblem;
  /** The field is required. */
  missing(path: string): ApiProblem;
  /** The object has a field that the API does not know. */
  unknownField(path: string): ApiProblem;
  /** The value is none of the known strings. */
  notOneOf(path: string, value: unknown, known: readonly string[]): ApiProblem;
  /** The object at `path` says in `key` that it is of a type that is not known. */
  unknownType(path: string, key: string, type: string, known: readonly string[]): ApiProblem;
  outOfBounds(path: string, excess: Excess): ApiProblem;
  /** The string does not match the pattern. */
  mismatch(path: string, pattern: RegExp): ApiProblem;
}
