import { isPlainObject } from "../base/freeze.ts";
import type { WireItem } from "../openai/wire.ts";

/** A finite number; `null` where there is none. */
export function numberAt(record: WireItem, key: string): number | null {
  const value = record[key];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** An object; an empty one where there is none. */
export function recordAt(record: WireItem, key: string): WireItem {
  const value = record[key];
  return isPlainObject(value) ? value : {};
}

/** The texts of a list; none where there is no list. */
export function textsAt(record: WireItem, key: string): readonly string[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** The objects of a list; none where there is no list. */
export function recordsAt(record: WireItem, key: string): readonly WireItem[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
