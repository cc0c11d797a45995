import { getErrorMessage } from "./errors.ts";
import { isPlainObject } from "./freeze.ts";
import { quoteValue } from "./quote-value.ts";
import type { Validation } from "./schema/validation.ts";

/** Parses external JSON. Returns a failure instead of throwing. */
export function parseJson(text: string): Validation<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, problem: getErrorMessage(error) };
  }
}

/** Returns JSON with sorted keys and no whitespace, so that equal data produces equal text. */
export function stableStringify(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isPlainObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/**
 * Describes the first part of `value` that would not survive a JSON round trip, with its path, or
 * returns `null`.
 */
export function findJsonProblem(value: unknown): string | null {
  const open = new Set<object>();
  return findProblemAt(value, "value", open);
}

/**
 * Maximum nesting of JSON data. `JSON.stringify` fails at several thousand levels, depending on the
 * stack.
 */
export const MAX_JSON_DEPTH = 1000;

/** Returns whether parsed JSON is nested too deeply to be stringified. */
export function isTooDeep(value: unknown): boolean {
  return isDeeperThan(value, MAX_JSON_DEPTH);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    if (levels === 0) return value.length > 0;
    for (let index = 0; index < value.length; index++) {
      if (isDeeperThan(value[index], levels - 1)) return true;
    }
    return false;
  }
  const parts = value as Readonly<Record<string, unknown>>;
  for (const key in parts) if (levels === 0 || isDeeperThan(parts[key], levels - 1)) return true;
  return false;
}

function findProblemAt(value: unknown, place: string, open: Set<object>): string | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : `${place} is ${value}`;
  if (!Array.isArray(value) && !isPlainObject(value)) return `${place} is ${quoteValue(value)}`;
  if (open.has(value)) return `${place} contains itself`;
  if (open.size === MAX_JSON_DEPTH)
    return `value is nested more than ${MAX_JSON_DEPTH} levels deep`;
  open.add(value);
  for (const [key, part] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (part === undefined && !Array.isArray(value)) continue; // JSON omits it
    const problem = findProblemAt(part, `${place}.${key}`, open);
    if (problem) return problem;
  }
  open.delete(value);
  return null;
}

/** External data, in which any field may be missing or have an unexpected type. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

/** Reads a string field. Returns `""` if it is missing or not a string. */
export function readString(record: UnknownRecord, key: string): string {
  return readStringOrNull(record, key) ?? "";
}

/** Reads a string field. Returns `null` if it is missing or not a string. */
export function readStringOrNull(record: UnknownRecord, key: string): string | null {
  const value = record[key];
  return typeof value === "string" ? value : null;
}

/** Reads a finite number. Returns `null` if it is missing or not a finite number. */
export function readNumber(record: UnknownRecord, key: string): number | null {
  const value = record[key];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Reads an object field. Returns an empty object if it is missing or not a plain object. */
export function readRecord(record: UnknownRecord, key: string): UnknownRecord {
  const value = record[key];
  return isPlainObject(value) ? value : {};
}

/** Reads an array of objects. Other elements are omitted. */
export function readRecords(record: UnknownRecord, key: string): readonly UnknownRecord[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** Reads an array of strings. Other elements are omitted. */
export function readStrings(record: UnknownRecord, key: string): readonly string[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** Returns the items with this `type`, in order. Elements that are not objects are omitted. */
export function filterByType(
  items: readonly UnknownRecord[],
  type: string,
): readonly UnknownRecord[] {
  return items.filter((item) => isPlainObject(item) && item["type"] === type);
}
