import { createUnknownKeyError, PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";

/** Throws a `PromptValidationError` that names `field` if `value` is not allowed there. */
export type ConfigCheck = (value: unknown, field: string) => void;

/** One check per key of a config. The compiler reports a missing key. */
export type Checks<Config extends object> = { readonly [Key in keyof Config]-?: ConfigCheck };

/**
 * Rejects a value that is not a plain object, keys that are not in `checks`, and values their check
 * rejects.
 */
export function checkKeys<Config extends object>(
  value: unknown,
  field: string,
  checks: Checks<Config>,
): void {
  if (!isPlainObject(value)) throw createObjectError(value, field);
  const known = new Map<string, ConfigCheck>(Object.entries(checks));
  for (const key of Object.keys(value)) {
    if (!known.has(key))
      throw createUnknownKeyError(key, field, [...known.keys()], PromptValidationError);
  }
  for (const [key, check] of known) check(value[key], `${field}.${key}`);
}

/** Returns the `type` of a plain object. Rejects a type that is not in `types`. */
export function checkType<Type extends string>(
  value: unknown,
  field: string,
  types: readonly Type[],
): Type {
  if (!isPlainObject(value)) throw createObjectError(value, field);
  const { type } = value;
  const found = types.find((known) => known === type);
  if (found === undefined) throw createEnumError(type, `${field}.type`, types);
  return found;
}

/** Accepts any value: other code checks it, before or after this. */
export const deferCheck: ConfigCheck = () => {};

/**
 * Rejects a value that is not a plain object. The message does not quote the value, which may
 * contain secrets.
 */
export function checkObjectUnquoted(
  value: unknown,
  field: string,
): asserts value is Record<string, unknown> {
  if (!isPlainObject(value)) throw createObjectError(value, field, { secret: true });
}

/** Accepts `undefined`, and passes any other value to `check`. */
export function optional(check: ConfigCheck): ConfigCheck {
  return (value, field) => {
    if (value !== undefined) check(value, field);
  };
}

/** Limits on an array, and whether it is secret. */
export interface ArrayLimits {
  /** Minimum length. @default 0 */
  readonly least?: number | undefined;
  /** Maximum length. @default unlimited */
  readonly most?: number | undefined;
  /** Does not quote a value that is not an array. @default false */
  readonly secret?: boolean | undefined;
}

/** Accepts an array whose entries all pass `check`. */
export function arrayCheck(
  check: ConfigCheck,
  { least = 0, most = Infinity, secret }: ArrayLimits = {},
): ConfigCheck {
  return (value, field) => {
    if (!Array.isArray(value)) {
      const remedy = "wrap a single value in [ … ]";
      throw new PromptValidationError({ field, value, rule: "must be an array", remedy, secret });
    }
    const items: readonly unknown[] = value;
    integerCheck(least, most)(items.length, `${field}.length`);
    for (const [index, item] of items.entries()) check(item, `${field}[${index}]`);
  };
}

/** Accepts only the given strings. */
export function enumCheck(words: readonly string[]): ConfigCheck {
  return (value, field) => {
    if (typeof value !== "string" || !words.includes(value))
      throw createEnumError(value, field, words);
  };
}

/** Accepts a finite number from `least` to `most`, inclusive. */
export function numberCheck(least: number, most = Infinity): ConfigCheck {
  return (value, field) => {
    if (Number.isFinite(value) && isBetween(value, least, most)) return;
    throw createRangeError(value, field, `a number ${describeRange(least, most)}`);
  };
}

/** Accepts an integer from `least` to `most`, inclusive. */
export function integerCheck(least: number, most = Infinity): ConfigCheck {
  return (value, field) => {
    if (Number.isSafeInteger(value) && isBetween(value, least, most)) return;
    throw createRangeError(value, field, `an integer ${describeRange(least, most)}`);
  };
}

export function checkBoolean(value: unknown, field: string): void {
  if (typeof value === "boolean") return;
  const rule = "must be a boolean";
  throw new PromptValidationError({ field, value, rule, remedy: "use true or false" });
}

/** Accepts a single-line string that is not blank. */
export function checkSingleLine(value: unknown, field: string): void {
  if (isSingleLine(value)) return;
  const rule = "must be a non-blank single-line string";
  throw new PromptValidationError({ field, value, rule, remedy: "pass it as one string" });
}

export function isSingleLine(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && !/[\p{Cc}\u2028\u2029]/u.test(value);
}

/** Accepts a string that is not empty. */
export function checkNotEmpty(value: unknown, field: string): void {
  if (typeof value === "string" && value !== "") return;
  const rule = "must be a non-empty string";
  throw new PromptValidationError({ field, value, rule, remedy: "pass it as one string" });
}

function createEnumError(
  value: unknown,
  field: string,
  words: readonly string[],
): PromptValidationError {
  const rule =
    words.length === 1 ? `must be ${quoteNames(words)}` : `must be one of ${quoteNames(words)}`;
  return new PromptValidationError({ field, value, rule, remedy: "spell it exactly as shown" });
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}

function describeRange(least: number, most: number): string {
  return most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
}

function createRangeError(value: unknown, field: string, wanted: string): PromptValidationError {
  const remedy = "use a value in that range";
  return new PromptValidationError({ field, value, rule: `must be ${wanted}`, remedy });
}

function createObjectError(
  value: unknown,
  field: string,
  { secret = false } = {},
): PromptValidationError {
  const rule = "must be a plain object";
  return new PromptValidationError({ field, value, rule, remedy: "use { … }", secret });
}

/** Returns `value` if it is a function, `null` or `undefined`. */
export function checkFunction<F>(value: F, field: string): F {
  if (value === undefined || value === null || typeof value === "function") return value;
  const rule = "must be a function";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "pass a function or omit it",
  });
}
