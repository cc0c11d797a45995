import { getErrorMessage, PromptValidationError } from "../errors.ts";
import { isPlainObject } from "../freeze.ts";
import { quoteNames } from "../quote-value.ts";

/** Keywords whose value is a schema, an array of schemas, or an object of schemas by name. */
export const applicators: ReadonlyMap<string, "schema" | "list" | "map"> = new Map([
  ["additionalProperties", "schema"],
  ["contains", "schema"],
  ["else", "schema"],
  ["if", "schema"],
  ["items", "schema"],
  ["not", "schema"],
  ["propertyNames", "schema"],
  ["then", "schema"],
  ["unevaluatedItems", "schema"],
  ["unevaluatedProperties", "schema"],
  ["allOf", "list"],
  ["anyOf", "list"],
  ["oneOf", "list"],
  ["prefixItems", "list"],
  ["$defs", "map"],
  ["definitions", "map"],
  ["dependentSchemas", "map"],
  ["patternProperties", "map"],
  ["properties", "map"],
]);

/** Applicators that apply to the same value as their schema, not to a part of the value. */
export const inPlaceApplicators: ReadonlySet<string> = new Set([
  ...["not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas"],
]);

/** The JSON types and their names in error messages. */
export const typeNames: ReadonlyMap<unknown, string> = new Map([
  ["string", "a string"],
  ["number", "a number"],
  ["integer", "an integer"],
  ["boolean", "true or false"],
  ["object", "an object"],
  ["array", "an array"],
  ["null", "null"],
]);

/**
 * Keywords that the validator does not support or interprets differently, and their replacements.
 */
const unsupportedKeywords: ReadonlyMap<string, string> = new Map([
  ["$dynamicRef", "use $ref"],
  ["$dynamicAnchor", "use $anchor"],
  ["$recursiveRef", "use $ref"],
  ["$recursiveAnchor", "use $anchor"],
  ["dependencies", "use dependentRequired or dependentSchemas"],
  ["additionalItems", "use prefixItems for the first items and items for the rest"],
]);

/**
 * The values of `format` that are checked. Any other format is an annotation. The validator
 * supports more, but not all of its patterns run in linear time.
 */
export const checkedFormats: ReadonlySet<unknown> = new Set([
  ...["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"],
]);

/** All other keywords that decide whether a value is valid. */
export const assertions: ReadonlySet<string> = new Set([
  ...["type", "const", "enum", "required", "dependentRequired", "pattern", "multipleOf"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"],
  ...["minItems", "maxItems", "minContains", "maxContains", "uniqueItems"],
  ...["minProperties", "maxProperties"],
]);

/** The valid values of a keyword, and the remedy for any other value. */
interface Rule {
  readonly isValid: (value: unknown) => boolean;
  readonly rule: string;
  readonly remedy: string;
}

/** Throws a `PromptValidationError` about the part of a schema at `pointer`. */
export function rejectSchema(
  pointer: string,
  value: unknown,
  { rule, remedy, cause }: Pick<Rule, "rule" | "remedy"> & { readonly cause?: unknown },
): never {
  const field = `jsonSchema() at ${pointer}`;
  throw new PromptValidationError({ field, value, rule, remedy, cause });
}

/**
 * Throws if JSON Schema does not allow `value` for the keyword. Unknown keywords accept any value.
 */
export function checkKeyword(keyword: string, value: unknown, pointer: string): void {
  const instead = unsupportedKeywords.get(keyword);
  if (instead !== undefined) {
    rejectSchema(pointer, value, { rule: "must not be used", remedy: instead });
  }
  const rule = keywordRules.get(keyword);
  if (rule && !rule.isValid(value)) rejectSchema(pointer, value, rule);
  const patterns = keyword === "pattern" ? [value] : [];
  const names = keyword === "patternProperties" ? Object.keys(Object(value)) : [];
  for (const pattern of [...patterns, ...names]) checkPattern(String(pattern), pointer);
}

function checkPattern(pattern: string, pointer: string): void {
  try {
    new RegExp(pattern, "u");
  } catch (cause) {
    const rule = `must be a regular expression (${getErrorMessage(cause)})`;
    const remedy = "fix the pattern; the u flag is set, so escape only special characters";
    rejectSchema(pointer, pattern, { rule, remedy, cause });
  }
}

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

const isString = (value: unknown): value is string => typeof value === "string";
const isStringArray = (value: unknown) => Array.isArray(value) && value.every(isString);
const isNonEmptyArray = (value: unknown) => Array.isArray(value) && value.length > 0;

const applicatorRules: Readonly<Record<"schema" | "list" | "map", Rule>> = {
  schema: {
    isValid: (value) => isPlainObject(value) || typeof value === "boolean",
    rule: "must be a schema",
    remedy: "use an object, true or false; for an array of schemas use prefixItems or anyOf",
  },
  list: {
    isValid: isNonEmptyArray,
    rule: "must be a non-empty array of schemas",
    remedy: 'use [{ type: "string" }, …]',
  },
  map: {
    isValid: isPlainObject,
    rule: "must be an object of schemas by name",
    remedy: 'use { name: { type: "string" } }',
  },
};

const count: Rule = {
  isValid: (value) => Number.isInteger(value) && Number(value) >= 0,
  rule: "must be a non-negative integer",
  remedy: "use a number such as 1",
};

const bound: Rule = {
  isValid: Number.isFinite,
  rule: "must be a number",
  remedy: "use a number such as 1",
};

const text: Rule = {
  isValid: isString,
  rule: "must be a string",
  remedy: "put the value in quotes",
};

const keywordRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...[...applicators].map(([name, kind]) => [name, applicatorRules[kind]] as const),
  ...["minLength", "maxLength", "minItems", "maxItems"].map((name) => [name, count] as const),
  ...["minProperties", "maxProperties"].map((name) => [name, count] as const),
  ...["minContains", "maxContains"].map((name) => [name, count] as const),
  ...["minimum", "maximum"].map((name) => [name, bound] as const),
  ...["exclusiveMinimum", "exclusiveMaximum"].map((name) => [name, bound] as const),
  ...["pattern", "format", "$ref", "$id"].map((name) => [name, text] as const),
  [
    "type",
    {
      isValid: (value) =>
        Array.isArray(value)
          ? value.length > 0 && value.every((type) => typeNames.has(type))
          : typeNames.has(value),
      rule: "must be a JSON type or an array of them",
      remedy: `use ${quoteNames([...typeNames.keys()].map(String))}`,
    },
  ],
  [
    "enum",
    {
      isValid: isNonEmptyArray,
      rule: "must be a non-empty array of the allowed values",
      remedy: 'use ["a", "b"]',
    },
  ],
  [
    "required",
    { isValid: isStringArray, rule: "must be an array of property names", remedy: 'use ["name"]' },
  ],
  [
    "dependentRequired",
    {
      isValid: (value) => isPlainObject(value) && Object.values(value).every(isStringArray),
      rule: "must be an object of arrays of property names",
      remedy: 'use { city: ["country"] } if city requires country',
    },
  ],
  [
    "multipleOf",
    {
      isValid: (value) => Number.isFinite(value) && Number(value) > 0,
      rule: "must be a positive number",
      remedy: "use a number such as 1",
    },
  ],
  [
    "uniqueItems",
    {
      isValid: (value) => typeof value === "boolean",
      rule: "must be true or false",
      remedy: "use true to reject duplicates",
    },
  ],
  [
    "$anchor",
    {
      isValid: (value) => isString(value) && /^[A-Za-z_][-\w.]*$/.test(value),
      rule: "must be a plain name",
      remedy: "use letters, digits, -, _ and ., starting with a letter or _",
    },
  ],
  [
    "$schema",
    {
      isValid: (value) => isString(value) && value.replace(/#$/, "") === DRAFT,
      rule: "must be the URL of draft 2020-12",
      remedy: `use ${DRAFT} or omit it`,
    },
  ],
]);
