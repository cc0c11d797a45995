import { isPlainObject } from "../../base/freeze.ts";
import { fieldsOf, type JsonSchema } from "../../base/schema/schema.ts";

/**
 * Whether the provider can hold a model to a schema exactly. It then wants every property required
 * and no others anywhere, knows only part of JSON Schema, and refuses the request over the rest.
 */
export function isStrict(schema: JsonSchema): boolean {
  if (!isPlainObject(schema) || schema["type"] !== "object" || "anyOf" in schema) return false;
  const open: unknown[] = [schema]; // a stack of our own: schemas may be nested deeply
  const seen = new Set<unknown>();
  while (open.length > 0) {
    const part = open.pop();
    if (seen.has(part)) continue;
    if (!isPlainObject(part) || !isStrictPart(part)) return false;
    seen.add(part);
    for (const inner of partsOf(part)) open.push(inner);
  }
  return true;
}

/** All that a strict schema may say; of any other keyword nobody promises that it is taken. */
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

/** Looks at one part, without what is in it: that has its own turn. */
function isStrictPart(part: JsonSchema): boolean {
  const { $ref, type, anyOf, items, format, pattern } = part as Keywords;
  const said = Object.keys(part).filter((name) => part[name] !== undefined);
  if ($ref !== undefined) return isLocal($ref) && said.length === 1;
  if (said.some((name) => !keywords.has(name))) return false;
  if (anyOf !== undefined && !(Array.isArray(anyOf) && anyOf.length > 0)) return false;
  if (type === undefined && anyOf === undefined) return false; // even beside an enum
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes("array") && items === undefined) return false;
  if (format !== undefined && !formats.has(format)) return false;
  if (typeof pattern === "string" && looksAround.test(pattern)) return false;
  const isObject = types.includes("object") || "properties" in part || "required" in part;
  return !isObject || isClosed(part);
}

/** Lookahead and lookbehind, which the provider's regular expressions have not. */
const looksAround = /\(\?<?[=!]/;

function isLocal(reference: unknown): boolean {
  return typeof reference === "string" && reference.startsWith("#");
}

function isClosed(part: JsonSchema): boolean {
  const { required = [], additionalProperties } = part as Keywords;
  if (additionalProperties !== false || !Array.isArray(required)) return false;
  const needed = new Set<unknown>(required);
  const names = [...fieldsOf(part).keys()];
  return names.every((name) => needed.has(name)) && needed.size === names.length;
}

function partsOf(part: JsonSchema): readonly unknown[] {
  const { properties, $defs, definitions, items, anyOf } = part as Keywords;
  const named = [properties, $defs, definitions].flatMap(valuesOf);
  const either: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return [...named, ...either, ...(items === undefined ? [] : [items])];
}

/** What should be a record of schemas and is none counts as a part, and is then found out. */
function valuesOf(named: unknown): readonly unknown[] {
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
