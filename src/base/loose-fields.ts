import { isPlainObject } from "./freeze.ts";

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
