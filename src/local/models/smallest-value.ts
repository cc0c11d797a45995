import { isPlainObject } from "../../base/freeze.ts";
import { smallestNumber, smallestText } from "./smallest-scalar.ts";

/**
 * The smallest value that fits a JSON Schema: what is required and no more, lists as short as they
 * may be. `undefined` if the schema allows none, or is too large to be walked.
 */
export function smallestValue(schema: unknown): unknown {
  return fitting(schema, { root: schema, open: new Set(), depth: 0, steps: { left: MOST_STEPS } });
}

const MOST_STEPS = 10_000;
const DEEPEST = 100;
const LONGEST_LIST = 1_000;

type Schema = Readonly<Record<string, unknown>>;

interface Walk {
  readonly root: unknown;
  /** References on the way here: the smallest value never needs one within itself. */
  readonly open: ReadonlySet<string>;
  readonly depth: number;
  readonly steps: { left: number };
}

function fitting(given: unknown, from: Walk): unknown {
  if (from.steps.left-- <= 0 || from.depth > DEEPEST) return undefined;
  const { schema, walk } = followed(given, { ...from, depth: from.depth + 1 });
  if (schema === false) return undefined;
  if (!isPlainObject(schema)) return null; // `true` and nothing allow anything
  const { allOf, ...apart } = schema;
  if (Array.isArray(allOf)) return fittingAll(apart, allOf, walk);
  for (const key of ["anyOf", "oneOf"]) {
    const { [key]: branches, ...rest } = schema;
    if (!Array.isArray(branches)) continue;
    return smallest(branches.map((branch) => fittingAll(rest, [branch], walk)));
  }
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return smallest(schema["enum"]);
  return smallest(typesOf(schema).map((type) => fittingType(type, schema, walk)));
}

function fittingAll(base: Schema, parts: readonly unknown[], from: Walk): unknown {
  let [whole, walk] = [base, from];
  for (const part of parts) {
    const next = followed(part, walk);
    if (next.schema === false) return undefined;
    walk = next.walk;
    whole = merged(whole, next.schema);
  }
  return fitting(whole, walk);
}

/** A schema with what it refers to put in; `false`, which nothing fits, where that goes in a circle. */
function followed(given: unknown, from: Walk): { readonly schema: unknown; readonly walk: Walk } {
  let [schema, walk] = [given, from];
  while (isPlainObject(schema) && typeof schema["$ref"] === "string") {
    const { $ref: reference, ...rest } = schema;
    if (walk.open.has(String(reference))) return { schema: false, walk };
    walk = { ...walk, open: new Set([...walk.open, String(reference)]) };
    const target = resolved(String(reference), walk.root);
    if (target === false) return { schema: false, walk };
    schema = merged(rest, target);
  }
  return { schema, walk };
}

/** What `#/$defs/node` points to in the whole schema; `false` if to nothing. */
function resolved(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return false;
  let at: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const key = decodedStep(step);
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isPlainObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at ?? false;
}

function decodedStep(step: string): string {
  const plain = /%(?![0-9a-f]{2})/i.test(step) ? step : decodeURIComponent(step);
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Both at once, as far as the smallest value is concerned. */
function merged(one: Schema, other: unknown): Schema {
  if (!isPlainObject(other)) return one;
  const both: Record<string, unknown> = { ...one, ...other };
  const properties = { ...recordOf(one["properties"]), ...recordOf(other["properties"]) };
  if (Object.keys(properties).length > 0) both["properties"] = properties;
  for (const key of ["required", "allOf"]) {
    const all = [...listOf(one[key]), ...listOf(other[key])];
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

function typesOf(schema: Schema): readonly unknown[] {
  const { type } = schema;
  if (Array.isArray(type)) return type;
  if (type !== undefined) return [type];
  if ("properties" in schema || "required" in schema) return ["object"];
  if ("items" in schema || "minItems" in schema || "prefixItems" in schema) return ["array"];
  if ("minLength" in schema || "pattern" in schema || "format" in schema) return ["string"];
  const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
  return bounds.some((bound) => bound in schema) ? ["number"] : ["null"];
}

function fittingType(type: unknown, schema: Schema, walk: Walk): unknown {
  switch (type) {
    case "object":
      return smallestObject(schema, walk);
    case "array":
      return smallestList(schema, walk);
    case "string":
      return smallestText(schema);
    case "number":
    case "integer":
      return smallestNumber(schema, type);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return undefined;
  }
}

function smallestObject(schema: Schema, walk: Walk): unknown {
  const properties = new Map(Object.entries(recordOf(schema["properties"])));
  const fields: [string, unknown][] = [];
  for (const name of listOf(schema["required"])) {
    if (typeof name !== "string") continue;
    const fallback = schema["additionalProperties"] ?? true;
    const value = fitting(properties.has(name) ? properties.get(name) : fallback, walk);
    if (value === undefined) return undefined;
    fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

function smallestList(schema: Schema, walk: Walk): unknown {
  const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
  if (least > LONGEST_LIST) return undefined;
  const first = listOf(schema["prefixItems"]);
  const items: unknown[] = [];
  while (items.length < least) {
    const place = items.length;
    const value = fitting(place < first.length ? first[place] : (schema["items"] ?? true), walk);
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items;
}

/** The one whose JSON is shortest, the first of equals. */
function smallest(values: readonly unknown[]): unknown {
  const possible = values.filter((value) => value !== undefined);
  const [first, ...others] = possible.map(
    (value) => [value, JSON.stringify(value).length] as const,
  );
  return others.reduce((least, one) => (least && one[1] < least[1] ? one : least), first)?.[0];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isPlainObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
