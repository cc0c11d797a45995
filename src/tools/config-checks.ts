import { PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { suggestion } from "../base/nearest.ts";
import { list } from "../base/show.ts";

/** Throws `PromptValidationError` with `field` in it, unless `value` may stand there. */
export type Check = (value: unknown, field: string) => void;

/** One check for every key of a config: the compiler asks for the one that was forgotten. */
export type Checks<Config extends object> = { readonly [Key in keyof Config]-?: Check };

/** Refuses what is no plain object, a key that `checks` does not have, and what they refuse. */
export function checkKeys<Config extends object>(
  value: unknown,
  field: string,
  checks: Checks<Config>,
): void {
  if (!isPlainObject(value)) throw notAnObject(value, field);
  const known = new Map<string, Check>(Object.entries(checks));
  for (const key of Object.keys(value)) {
    if (!known.has(key)) throw unknownKey(key, field, known.keys());
  }
  for (const [key, check] of known) check(value[key], `${field}.${key}`);
}

/** Which of `types` a plain object is; refuses it if it is none of them. */
export function checkType<Type extends string>(
  value: unknown,
  field: string,
  types: readonly Type[],
): Type {
  if (!isPlainObject(value)) throw notAnObject(value, field);
  const { type } = value;
  const found = types.find((known) => known === type);
  if (found === undefined) throw notAWord(type, `${field}.type`, types);
  return found;
}

/** Lets everything pass: it was looked at before, or is later. */
export const elsewhere: Check = () => {};

/** Refuses what is no plain object and does not quote it: it may hold secrets. */
export function checkObjectUnquoted(
  value: unknown,
  field: string,
): asserts value is Record<string, unknown> {
  if (!isPlainObject(value)) throw notAnObject(value, field, { secret: true });
}

/** Lets `undefined` pass: it was left out. */
export function optional(check: Check): Check {
  return (value, field) => {
    if (value !== undefined) check(value, field);
  };
}

export interface ListRules {
  /** @default 0 */
  readonly least?: number | undefined;
  /** @default any number */
  readonly most?: number | undefined;
  /** What is no list is not quoted. @default false */
  readonly secret?: boolean | undefined;
}

/** A list whose entries all pass `check`. */
export function listOf(
  check: Check,
  { least = 0, most = Infinity, secret }: ListRules = {},
): Check {
  return (value, field) => {
    if (!Array.isArray(value)) {
      const remedy = "write [ … ], even around a single entry";
      throw new PromptValidationError({ field, value, rule: "must be a list", remedy, secret });
    }
    const items: readonly unknown[] = value;
    integerFrom(least, most)(items.length, `${field}.length`);
    for (const [index, item] of items.entries()) check(item, `${field}[${index}]`);
  };
}

/** One of a few words. */
export function oneOf(words: readonly string[]): Check {
  return (value, field) => {
    if (typeof value !== "string" || !words.includes(value)) throw notAWord(value, field, words);
  };
}

/** A number from `least` to `most`, both allowed. */
export function numberFrom(least: number, most = Infinity): Check {
  return (value, field) => {
    if (Number.isFinite(value) && isBetween(value, least, most)) return;
    throw outOfRange(value, field, `a number ${range(least, most)}`);
  };
}

/** A whole number from `least` to `most`, both allowed. */
export function integerFrom(least: number, most = Infinity): Check {
  return (value, field) => {
    if (Number.isSafeInteger(value) && isBetween(value, least, most)) return;
    throw outOfRange(value, field, `a whole number ${range(least, most)}`);
  };
}

export function checkBoolean(value: unknown, field: string): void {
  if (typeof value === "boolean") return;
  const rule = "must be a boolean";
  throw new PromptValidationError({ field, value, rule, remedy: "write true or false" });
}

/** One line of text that is not blank. */
export function checkText(value: unknown, field: string): void {
  if (isLine(value)) return;
  const rule = "must be one line of text that is not blank";
  throw new PromptValidationError({ field, value, rule, remedy: "write it out as one string" });
}

export function isLine(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && !/[\p{Cc}\u2028\u2029]/u.test(value);
}

/** A text that is not empty. */
export function checkNotEmpty(value: unknown, field: string): void {
  if (typeof value === "string" && value !== "") return;
  const rule = "must be a text that is not empty";
  throw new PromptValidationError({ field, value, rule, remedy: "write it out as one string" });
}

function notAWord(value: unknown, field: string, words: readonly string[]): PromptValidationError {
  const rule = words.length === 1 ? `must be ${list(words)}` : `must be one of ${list(words)}`;
  return new PromptValidationError({ field, value, rule, remedy: "write it exactly so" });
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}

function range(least: number, most: number): string {
  return most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
}

function outOfRange(value: unknown, field: string, wanted: string): PromptValidationError {
  const remedy = "give one in that range";
  return new PromptValidationError({ field, value, rule: `must be ${wanted}`, remedy });
}

function notAnObject(
  value: unknown,
  field: string,
  { secret = false } = {},
): PromptValidationError {
  const rule = "must be a plain object";
  return new PromptValidationError({ field, value, rule, remedy: "write { … }", secret });
}

/** Quotes the key and never what stands under it: that may be a secret with a slip in its name. */
function unknownKey(key: string, field: string, known: Iterable<string>): PromptValidationError {
  const names = [...known];
  const near = suggestion(key, names);
  return new PromptValidationError({
    field: `${field} key`,
    value: key,
    rule: names.length === 0 ? "must be left out" : `must be one of ${list(names)}`,
    remedy: near === null ? "there is no such option" : `did you mean "${near}"?`,
  });
}

/** Returns `value` if it may be called, or was left out. */
export function checkFunction<F>(value: F, field: string): F {
  if (value === undefined || value === null || typeof value === "function") return value;
  const rule = "must be a function";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "give a function or leave it out",
  });
}
