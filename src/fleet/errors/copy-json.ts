import { isPlainObject } from "../../base/freeze.ts";

/** Number of characters of JSON that may still be copied. */
export interface JsonBudget {
  left: number;
}

/**
 * Copies the part of a value that is JSON and fits the budget. Functions, symbols, class instances, accessors and
 * cycles are omitted, long strings and lists are cut. Returns `undefined` if nothing remains. May throw if `value`
 * contains a proxy.
 */
export function copyJson(value: unknown, budget: JsonBudget): unknown {
  return copyPart(value, budget, []);
}

/** Cuts a text to `length` characters, never within a pair of surrogates. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, Math.max(0, length - 1));
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Lists the own enumerable data of an object. Accessors are not called. */
export function listData(object: object): readonly (readonly [key: string, value: unknown])[] {
  return Object.entries(Object.getOwnPropertyDescriptors(object)).flatMap(([key, found]) =>
    found.enumerable && "value" in found ? [[key, found.value] as const] : [],
  );
}

/** Deeper data is omitted. */
const MAX_DEPTH = 32;
/** The least that a part takes: a separator and its quotes or brackets. */
const MIN_SIZE = 4;

function copyPart(value: unknown, budget: JsonBudget, open: readonly object[]): unknown {
  if (budget.left < MIN_SIZE) return undefined;
  if (typeof value === "string") {
    const text = cutText(value, budget.left - MIN_SIZE);
    budget.left -= text.length + MIN_SIZE;
    return text;
  }
  if (!isObject(value)) {
    const isJson = value === null || typeof value === "boolean" || Number.isFinite(value);
    if (isJson) budget.left -= String(value).length;
    return isJson ? value : undefined;
  }
  if (open.includes(value) || open.length === MAX_DEPTH) return undefined;
  budget.left -= MIN_SIZE;
  const inside = [...open, value];
  if (Array.isArray(value)) return copyList(value, budget, inside);
  return isPlainObject(value) ? copyRecord(value, budget, inside) : undefined;
}

function copyList(
  list: readonly unknown[],
  budget: JsonBudget,
  open: readonly object[],
): readonly unknown[] {
  const copies: unknown[] = [];
  for (const item of list) {
    if (budget.left < MIN_SIZE) break;
    copies.push(copyPart(item, budget, open) ?? null); // as JSON.stringify does
  }
  return copies;
}

/** Copies numbers and short texts first, so that they remain if a long part takes the rest. */
function copyRecord(record: object, budget: JsonBudget, open: readonly object[]): object {
  const fields = listData(record).filter(([key]) => key !== "__proto__");
  const long = fields.filter(([, value]) => isLong(value));
  const short = fields.filter(([, value]) => !isLong(value));
  const copies: [string, unknown][] = [];
  const add = (key: string, value: unknown, share: number) => {
    const own = { left: share - key.length - MIN_SIZE };
    const copy = copyPart(value, own, open);
    if (copy === undefined) return;
    budget.left -= share - own.left;
    copies.push([key, copy]);
  };
  for (const [key, value] of short) add(key, value, budget.left);
  // Each of the long parts gets an equal share of the remaining budget.
  for (const [index, [key, value]] of long.entries())
    add(key, value, Math.floor(budget.left / (long.length - index)));
  return Object.fromEntries(copies);
}

/** The length from which a text is copied after the other fields. */
const LONG_TEXT = 256;

function isLong(value: unknown): boolean {
  return isObject(value) || (typeof value === "string" && value.length >= LONG_TEXT);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
