import { isPlainObject } from "../../base/freeze.ts";
import { findShortestText, findSmallestNumber } from "./smallest-number.ts";

/**
 * Returns the smallest value that matches a JSON Schema: only required properties, and arrays as short as allowed.
 * Returns `undefined` if the schema allows no value or is too large.
 */
export function createSmallestValue(schema: unknown): unknown {
  return findValue(schema, { root: schema, open: new Set(), depth: 0, steps: { left: MAX_STEPS } });
}

const MAX_STEPS = 10_000;
const MAX_DEPTH = 100;
const MAX_ARRAY_LENGTH = 1_000;

type Schema = Readonly<Record<string, unknown>>;

interface Walk {
  readonly root: unknown;
  /** References on the path to this schema. The smallest value never contains one recursively. */
  readonly open: ReadonlySet<string>;
  readonly depth: number;
  readonly steps: { left: number };
}

function findValue(input: unknown, from: Walk): unknown {
  if (from.steps.left-- <= 0 || from.depth > MAX_DEPTH) return undefined;
  const { schema, walk } = followReferences(input, { ...from, depth: from.depth + 1 });
  if (schema === false) return undefined;
  if (!isPlainObject(schema)) return null; // `true` and a missing schema allow any value
  const { allOf, ...apart } = schema;
  if (Array.isArray(allOf)) return findValueForAll(apart, allOf, walk);
  for (const key of ["anyOf", "oneOf"]) {
    const { [key]: branches, ...rest } = schema;
    if (!Array.isArray(branches)) continue;
    return selectSmallest(branches.map((branch) => findValueForAll(rest, [branch], walk)));
  }
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return selectSmallest(schema["enum"]);
  return selectSmallest(inferTypes(schema).map((type) => findValueOfType(type, schema, walk)));
}

function findValueForAll(base: Schema, parts: readonly unknown[], from: Walk): unknown {
  let [whole, walk] = [base, from];
  for (const part of parts) {
    const next = followReferences(part, walk);
    if (next.schema === false) return undefined;
    walk = next.walk;
    whole = mergeSchemas(whole, next.schema);
  }
  return findValue(whole, walk);
}

/** Resolves the references of a schema. Returns `false`, which matches no value, for a circular reference. */
function followReferences(
  input: unknown,
  from: Walk,
): { readonly schema: unknown; readonly walk: Walk } {
  let [schema, walk] = [input, from];
  while (isPlainObject(schema) && typeof schema["$ref"] === "string") {
    const { $ref: reference, ...rest } = schema;
    if (walk.open.has(String(reference))) return { schema: false, walk };
    walk = { ...walk, open: new Set([...walk.open, String(reference)]) };
    const target = resolveReference(String(reference), walk.root);
    if (target === false) return { schema: false, walk };
    schema = mergeSchemas(rest, target);
  }
  return { schema, walk };
}

/** Returns the subschema that a reference such as `#/$defs/node` points to, or `false`. */
function resolveReference(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return false;
  let at: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const key = decodePointerStep(step);
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isPlainObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at ?? false;
}

function decodePointerStep(step: string): string {
  const plain = /%(?![0-9a-f]{2})/i.test(step) ? step : decodeURIComponent(step);
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Combines two schemas, as far as the smallest value requires. */
function mergeSchemas(one: Schema, other: unknown): Schema {
  if (!isPlainObject(other)) return one;
  const both: Record<string, unknown> = { ...one, ...other };
  const properties = { ...toRecord(one["properties"]), ...toRecord(other["properties"]) };
  if (Object.keys(properties).length > 0) both["properties"] = properties;
  for (const key of ["required", "allOf"]) {
    const all = [...toArray(one[key]), ...toArray(other[key])];
    if (all.length > 0) both[key] = [...new Set(all)];
  }
  for (const [keys, tighter] of BOUNDS) {
    for (const key of keys) {
      const [a, b] = [one[key], other[key]];
      if (typeof a === "number" && typeof b === "number") both[key] = tighter(a, b);
    }
  }
  return both;
}

const BOUNDS = [
  [["minimum", "exclusiveMinimum", "minLength", "minItems"], Math.max],
  [["maximum", "exclusiveMaximum", "maxLength", "maxItems"], Math.min],
] as const;

function inferTypes(schema: Schema): readonly unknown[] {
  const { type } = schema;
  if (Array.isArray(type)) return type;
  if (type !== undefined) return [type];
  if ("properties" in schema || "required" in schema) return ["object"];
  if ("items" in schema || "minItems" in schema || "prefixItems" in schema) return ["array"];
  if ("minLength" in schema || "pattern" in schema || "format" in schema) return ["string"];
  const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
  return bounds.some((bound) => bound in schema) ? ["number"] : ["null"];
}

function findValueOfType(type: unknown, schema: Schema, walk: Walk): unknown {
  switch (type) {
    case "object":
      return createSmallestObject(schema, walk);
    case "array":
      return createSmallestArray(schema, walk);
    case "string":
      return findShortestText(schema);
    case "number":
    case "integer":
      return findSmallestNumber(schema, type);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return undefined;
  }
}

function createSmallestObject(schema: Schema, walk: Walk): unknown {
  const properties = new Map(Object.entries(toRecord(schema["properties"])));
  const fields: [string, unknown][] = [];
  for (const name of toArray(schema["required"])) {
    if (typeof name !== "string") continue;
    const fallback = schema["additionalProperties"] ?? true;
    const value = findValue(properties.has(name) ? properties.get(name) : fallback, walk);
    if (value === undefined) return undefined;
    fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

function createSmallestArray(schema: Schema, walk: Walk): unknown {
  const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
  if (least > MAX_ARRAY_LENGTH) return undefined;
  const first = toArray(schema["prefixItems"]);
  const items: unknown[] = [];
  while (items.length < least) {
    const place = items.length;
    const value = findValue(place < first.length ? first[place] : (schema["items"] ?? true), walk);
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items;
}

/** Returns the value with the shortest JSON; the first of several. */
function selectSmallest(values: readonly unknown[]): unknown {
  const possible = values.filter((value) => value !== undefined);
  const [first, ...others] = possible.map(
    (value) => [value, JSON.stringify(value).length] as const,
  );
  return others.reduce((least, one) => (least && one[1] < least[1] ? one : least), first)?.[0];
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isPlainObject(value) ? value : {};
}

function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
