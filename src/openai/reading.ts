import { isPlainObject } from "../base/freeze.ts";
import type { WireItem } from "./wire.ts";

/** Reads what a provider sent, where any field may be missing or of another type. */

/** A text; `""` where there is none. */
export function textAt(record: WireItem, key: string): string {
  return maybeTextAt(record, key) ?? "";
}

export function maybeTextAt(record: WireItem, key: string): string | null {
  const value = record[key];
  return typeof value === "string" ? value : null;
}

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

/** The objects of a list; what else is in it is left out. */
export function recordsAt(record: WireItem, key: string): readonly WireItem[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** The texts of a list; what else is in it is left out. */
export function textsAt(record: WireItem, key: string): readonly string[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** The items of one type, in order; what is no object is left out. */
export function itemsOfType(items: readonly WireItem[], type: string): readonly WireItem[] {
  return items.filter((item) => isPlainObject(item) && item["type"] === type);
}
