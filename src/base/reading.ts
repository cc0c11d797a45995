import { isPlainObject } from "./freeze.ts";

/** Data from outside, where any field may be missing or of another type. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

/** A text; `""` where there is none. */
export function textAt(record: UnknownRecord, key: string): string {
  return maybeTextAt(record, key) ?? "";
}

export function maybeTextAt(record: UnknownRecord, key: string): string | null {
  const value = record[key];
  return typeof value === "string" ? value : null;
}

/** A finite number; `null` where there is none. */
export function numberAt(record: UnknownRecord, key: string): number | null {
  const value = record[key];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** An object; an empty one where there is none. */
export function recordAt(record: UnknownRecord, key: string): UnknownRecord {
  const value = record[key];
  return isPlainObject(value) ? value : {};
}

/** The objects of a list; what else is in it is left out. */
export function recordsAt(record: UnknownRecord, key: string): readonly UnknownRecord[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** The texts of a list; what else is in it is left out. */
export function textsAt(record: UnknownRecord, key: string): readonly string[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** The items of one type, in order; what is no object is left out. */
export function itemsOfType(
  items: readonly UnknownRecord[],
  type: string,
): readonly UnknownRecord[] {
  return items.filter((item) => isPlainObject(item) && item["type"] === type);
}
