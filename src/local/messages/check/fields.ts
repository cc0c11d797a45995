import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { refusal } from "./refusal.ts";

/** Where a key or a place is: `messages.0.content`. */
export function at(path: string, key: string | number): string {
  return path === "" ? String(key) : `${path}.${key}`;
}

/** An object, or a refusal that names it. */
export function recordIn(value: unknown, path: string): WireItem {
  if (isPlainObject(value)) return value;
  throw refusal(path, "Input should be a valid dictionary");
}

/** What an object must have. */
export function neededAt(record: WireItem, key: string, path: string): unknown {
  if (Object.hasOwn(record, key)) return record[key];
  throw refusal(at(path, key), "Field required");
}

/** A text, of a pattern if one is given. */
export function textIn(value: unknown, path: string, pattern?: RegExp): string {
  if (typeof value !== "string") throw refusal(path, "Input should be a valid string");
  if (!pattern || pattern.test(value)) return value;
  throw refusal(path, `String should match pattern '${pattern.source}'`);
}

/** The same of a key that an object must have. */
export function neededText(record: WireItem, key: string, path: string, pattern?: RegExp): string {
  return textIn(neededAt(record, key, path), at(path, key), pattern);
}

export function listIn(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw refusal(path, "Input should be a valid list");
}

/** A list of texts; `[]` where there is none. */
export function textsIn(value: unknown, path: string): readonly string[] {
  if (value === undefined || value === null) return [];
  return listIn(value, path).map((one, place) => textIn(one, at(path, place)));
}

/** A whole number that is not too small. */
export function wholeIn(value: unknown, path: string, least: number): number {
  if (typeof value !== "number" || !Number.isInteger(value))
    throw refusal(path, "Input should be a valid integer");
  if (value >= least) return value;
  throw refusal(path, `Input should be greater than or equal to ${least}`);
}

/** Where it is there at all, a number between two. */
export function checkNumber(value: unknown, path: string, [least, most]: readonly number[]): void {
  if (value === undefined || value === null) return;
  if (typeof value !== "number") throw refusal(path, "Input should be a valid number");
  if (value < Number(least))
    throw refusal(path, `Input should be greater than or equal to ${least}`);
  if (value > Number(most)) throw refusal(path, `Input should be less than or equal to ${most}`);
}

/** `false` where there is none. */
export function flagIn(value: unknown, path: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw refusal(path, "Input should be a valid boolean");
}

/** One of a few words. */
export function oneOf(value: unknown, path: string, words: readonly string[]): string {
  if (typeof value === "string" && words.includes(value)) return value;
  const quoted = words.map((word) => `'${word}'`);
  const last = quoted.pop();
  const all = quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
  throw refusal(path, `Input should be ${all}`);
}
