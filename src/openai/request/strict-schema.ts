import { isPlainObject } from "../../base/freeze.ts";
import { type JsonSchema, listFields } from "../../base/schema/schema.ts";

/**
 * Whether a schema qualifies for the provider's strict mode. Strict schemas require every property,
 * allow no additional ones, and use a subset of JSON Schema; the API rejects others with `strict: true`.
 */
export function isStrictSchema(schema: JsonSchema): boolean {
  if (!isPlainObject(schema) || schema["type"] !== "object" || "anyOf" in schema) return false;
  const pending: unknown[] = [schema]; // an explicit stack: deeply nested schemas would overflow the call stack
  const seen = new Set<unknown>();
  while (pending.length > 0) {
    const part = pending.pop();
    if (seen.has(part)) continue;
    if (!isPlainObject(part) || !isStrictPart(part)) return false;
    seen.add(part);
    for (const inner of listParts(part)) pending.push(inner);
  }
  return true;
}

/** The keywords that strict mode is documented or known to accept. */
const keywords: ReadonlySet<string> = new Set([
  ...["type", "properties", "required", "additionalProperties", "items", "anyOf"],
  ...["$ref", "$defs", "definitions", "enum", "const"],
  ...["pattern", "format", "minLength", "maxLength", "minItems", "maxItems"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"],
  ...["$schema", "$comment"],
]);

const formats: ReadonlySet<unknown> = new Set([
  ...["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
]);

/** Checks one part of a schema, without its nested parts. */
function isStrictPart(part: JsonSchema): boolean {
  const { $ref, type, anyOf, items, format, pattern } = part as Keywords;
  const used = Object.keys(part).filter((name) => part[name] !== undefined);
  if ($ref !== undefined) return isLocalReference($ref) && used.length === 1;
  if (used.some((name) => !keywords.has(name))) return false;
  if (anyOf !== undefined && !(Array.isArray(anyOf) && anyOf.length > 0)) return false;
  if (type === undefined && anyOf === undefined) return false; // even with an enum
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes("array") && items === undefined) return false;
  if (format !== undefined && !formats.has(format)) return false;
  if (typeof pattern === "string" && lookaround.test(pattern)) return false;
  const isObject = types.includes("object") || "properties" in part || "required" in part;
  return !isObject || isClosed(part);
}

/** Lookahead and lookbehind, which the provider's regular expressions do not support. */
const lookaround = /\(\?<?[=!]/;

function isLocalReference(reference: unknown): boolean {
  return typeof reference === "string" && reference.startsWith("#");
}

function isClosed(part: JsonSchema): boolean {
  const { required = [], additionalProperties } = part as Keywords;
  if (additionalProperties !== false || !Array.isArray(required)) return false;
  const needed = new Set<unknown>(required);
  const names = [...listFields(part).keys()];
  return names.every((name) => needed.has(name)) && needed.size === names.length;
}

function listParts(part: JsonSchema): readonly unknown[] {
  const { properties, $defs, definitions, items, anyOf } = part as Keywords;
  const named = [properties, $defs, definitions].flatMap(listValues);
  const either: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return [...named, ...either, ...(items === undefined ? [] : [items])];
}

/**
 * Returns the values of a record of schemas. Any other value is returned as a part, which then
 * fails.
 */
function listValues(named: unknown): readonly unknown[] {
  if (isPlainObject(named)) return Object.values(named);
  return named === undefined ? [] : [named];
}

interface Keywords {
  readonly $ref?: unknown;
  readonly type?: unknown;
  readonly properties?: unknown;
  readonly required?: unknown;
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
  readonly anyOf?: unknown;
  readonly $defs?: unknown;
  readonly definitions?: unknown;
  readonly format?: unknown;
  readonly pattern?: unknown;
}
