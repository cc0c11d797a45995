import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
  readStrings,
  type UnknownRecord,
} from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { WinkError } from "../../base/wink-error.ts";
import { type ErrorClass, getKnownError } from "./known-errors.ts";

/**
 * Rebuilds an error from the text of {@link serializeError}: an instance of the same class, with its name, message,
 * fields, stack and causes. An error of `/openai` or `/claude` becomes an instance of the nearest class in
 * `weakincentives`, and an error of any other class becomes an `Error`; both keep their name and their fields. Never throws: a text
 * that is not a stored error becomes a `WinkError`.
 */
export function rebuildError(text: string): Error {
  try {
    const stored: unknown = JSON.parse(text, dropPrototype);
    if (isStoredError(stored)) return createError(stored, 0);
  } catch {
    // not JSON, or nested too deeply
  }
  const remedy = "Check which program writes to the fleet's database";
  return new WinkError(`The stored error cannot be read: ${quoteValue(text)}. ${remedy}.`);
}

/** A field with this name would replace the prototype of an object that is copied with `Object.assign`. */
function dropPrototype(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

/** How many causes are rebuilt. Stored errors have fewer, but others may write to the database. */
const MAX_DEPTH = 10;

function isStoredError(value: unknown): value is UnknownRecord {
  return isPlainObject(value) && typeof value["message"] === "string";
}

function createError(stored: UnknownRecord, depth: number): Error {
  const { kind, fields: readers } = getKnownError(readString(stored, "base"));
  const error = construct(kind, stored);
  const define = (key: string, value: unknown, enumerable = true) =>
    Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true });
  const name = readString(stored, "name") || readString(stored, "base") || "Error";
  const message = readString(stored, "message");
  const frames = readStringOrNull(stored, "frames");
  define("name", name, error instanceof WinkError);
  define("message", message, false);
  define("stack", `${name}: ${message}${frames === null ? "" : `\n${frames}`}`, false);
  const fields = readRecord(stored, "fields");
  for (const [key, read] of Object.entries(readers)) define(key, read(fields[key]));
  for (const [key, value] of Object.entries(fields))
    if (!Object.hasOwn(readers, key) && isOwnField(key, kind)) define(key, value);
  if (depth === MAX_DEPTH) return error;
  const createInner = (inner: UnknownRecord) => createError(inner, depth + 1);
  const cause = readRecord(stored, "cause");
  if (isStoredError(cause["error"])) define("cause", createInner(cause["error"]), false);
  else if ("value" in cause) define("cause", cause["value"], false);
  for (const key of readStrings(stored, "causeFields"))
    if (isOwnField(key, kind)) define(key, error.cause);
  for (const [key, inner] of Object.entries(readRecord(stored, "errorFields")))
    if (isStoredError(inner) && isOwnField(key, kind)) define(key, createInner(inner));
  if (error instanceof AggregateError)
    define("errors", readRecords(stored, "errors").filter(isStoredError).map(createInner), false);
  return error;
}

/** Creates an error of a class without its constructor, which would need arguments that are not stored. */
function construct(kind: ErrorClass, stored: UnknownRecord): Error {
  if (!isOptionError(kind)) return Reflect.construct(Error, [], kind);
  // Its private state is what `withField` needs.
  const fields = readRecord(stored, "fields");
  const field = readString(fields, "field");
  const [rule = ""] = readString(stored, "message").slice(field.length).trimStart().split(", got ");
  const refusal = { field, value: fields["value"], rule, remedy: readString(fields, "remedy") };
  return Reflect.construct(InvalidOptionError, [refusal], kind);
}

function isOptionError(kind: ErrorClass): boolean {
  return kind === InvalidOptionError || kind.prototype instanceof InvalidOptionError;
}

/** Whether a field may be added to an error: it is not a part of every error, and hides no method. */
function isOwnField(key: string, kind: ErrorClass): boolean {
  return !RESERVED.has(key) && !(key in kind.prototype);
}

const RESERVED: ReadonlySet<string> = new Set(["stack", "cause"]);
