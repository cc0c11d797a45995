import { messageOf, PromptValidationError } from "../errors.ts";
import { isPlainObject } from "../freeze.ts";
import { list } from "../show.ts";

/** Keywords whose value is a schema, a list of schemas, or an object with schemas by name. */
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

/** Applicators that apply to the same value as the schema they are in, not to a part of it. */
export const inPlaceApplicators: ReadonlySet<string> = new Set([
  ...["not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas"],
]);

/** The JSON types, each as an error message names it. */
export const typeNames: ReadonlyMap<unknown, string> = new Map([
  ["string", "a string"],
  ["number", "a number"],
  ["integer", "an integer"],
  ["boolean", "true or false"],
  ["object", "an object"],
  ["array", "an array"],
  ["null", "null"],
]);

/** Keywords that the validator does not support or reads differently, and what to use instead. */
const unsupportedKeywords: ReadonlyMap<string, string> = new Map([
  ["$dynamicRef", "use $ref"],
  ["$dynamicAnchor", "use $anchor"],
  ["$recursiveRef", "use $ref"],
  ["$recursiveAnchor", "use $anchor"],
  ["dependencies", "use dependentRequired or dependentSchemas"],
  ["additionalItems", "use prefixItems for the first items and items for the rest"],
]);

/**
 * The values of `format` that are checked; any other is an annotation. The validator knows more, but
 * not all of its patterns run in linear time.
 */
export const checkedFormats: ReadonlySet<unknown> = new Set([
  ...["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"],
]);

/** Everything else that decides whether a value is valid. */
export const assertions: ReadonlySet<string> = new Set([
  ...["type", "const", "enum", "required", "dependentRequired", "pattern", "multipleOf"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"],
  ...["minItems", "maxItems", "minContains", "maxContains", "uniqueItems"],
  ...["minProperties", "maxProperties"],
]);

/** What a keyword's value must be, and what to write if it is something else. */
interface Rule {
  readonly fits: (value: unknown) => boolean;
  readonly rule: string;
  readonly remedy: string;
}

/** Throws a `PromptValidationError` for the part of a schema at `pointer`. */
export function refuseSchema(
  pointer: string,
  value: unknown,
  { rule, remedy, cause }: Pick<Rule, "rule" | "remedy"> & { readonly cause?: unknown },
): never {
  const field = `jsonSchema() at ${pointer}`;
  throw new PromptValidationError({ field, value, rule, remedy, cause });
}

/** Refuses a value that JSON Schema does not allow for a keyword. Unknown keywords may have any. */
export function checkKeyword(keyword: string, value: unknown, pointer: string): void {
  const instead = unsupportedKeywords.get(keyword);
  if (instead !== undefined) {
    refuseSchema(pointer, value, { rule: "must not be used", remedy: instead });
  }
  const rule = keywordRules.get(keyword);
  if (rule && !rule.fits(value)) refuseSchema(pointer, value, rule);
  const patterns = keyword === "pattern" ? [value] : [];
  const names = keyword === "patternProperties" ? Object.keys(Object(value)) : [];
  for (const pattern of [...patterns, ...names]) checkPattern(String(pattern), pointer);
}

function checkPattern(pattern: string, pointer: string): void {
  try {
    new RegExp(pattern, "u");
  } catch (cause) {
    const rule = `must be a regular expression (${messageOf(cause)})`;
    const remedy = "correct it; escape only what needs escaping, because the u flag is set";
    refuseSchema(pointer, pattern, { rule, remedy, cause });
  }
}

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

const isString = (value: unknown): value is string => typeof value === "string";
const isStrings = (value: unknown) => Array.isArray(value) && value.every(isString);
const isFilled = (value: unknown) => Array.isArray(value) && value.length > 0;

const applicatorRules: Readonly<Record<"schema" | "list" | "map", Rule>> = {
  schema: {
    fits: (value) => isPlainObject(value) || typeof value === "boolean",
    rule: "must be a schema",
    remedy: "write an object, true or false; for a list of schemas use prefixItems or anyOf",
  },
  list: {
    fits: isFilled,
    rule: "must be a non-empty array of schemas",
    remedy: 'write [{ type: "string" }, …]',
  },
  map: {
    fits: isPlainObject,
    rule: "must be an object with schemas by name",
    remedy: 'write { name: { type: "string" } }',
  },
};

const count: Rule = {
  fits: (value) => Number.isInteger(value) && Number(value) >= 0,
  rule: "must be a whole number of 0 or more",
  remedy: "write a number such as 1",
};

const bound: Rule = {
  fits: Number.isFinite,
  rule: "must be a number",
  remedy: "write a number such as 1",
};

const text: Rule = { fits: isString, rule: "must be a string", remedy: "write it in quotes" };

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
      fits: (value) =>
        Array.isArray(value)
          ? value.length > 0 && value.every((type) => typeNames.has(type))
          : typeNames.has(value),
      rule: "must be a JSON type or an array of them",
      remedy: `use ${list([...typeNames.keys()].map(String))}`,
    },
  ],
  [
    "enum",
    {
      fits: isFilled,
      rule: "must be a non-empty array of the allowed values",
      remedy: 'write ["a", "b"]',
    },
  ],
  [
    "required",
    { fits: isStrings, rule: "must be an array of property names", remedy: 'write ["name"]' },
  ],
  [
    "dependentRequired",
    {
      fits: (value) => isPlainObject(value) && Object.values(value).every(isStrings),
      rule: "must be an object with arrays of property names",
      remedy: 'write { city: ["country"] } if city needs country',
    },
  ],
  [
    "multipleOf",
    {
      fits: (value) => Number.isFinite(value) && Number(value) > 0,
      rule: "must be a number above 0",
      remedy: "write a number such as 1",
    },
  ],
  [
    "uniqueItems",
    {
      fits: (value) => typeof value === "boolean",
      rule: "must be true or false",
      remedy: "write true to refuse duplicates",
    },
  ],
  [
    "$anchor",
    {
      fits: (value) => isString(value) && /^[A-Za-z_][-\w.]*$/.test(value),
      rule: "must be a plain name",
      remedy: "use letters, digits, -, _ and ., and start with a letter or _",
    },
  ],
  [
    "$schema",
    {
      fits: (value) => isString(value) && value.replace(/#$/, "") === DRAFT,
      rule: "must name draft 2020-12",
      remedy: `write ${DRAFT}, or leave it out`,
    },
  ],
]);
