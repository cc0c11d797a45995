import { deepFreeze, isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import { checkSchema, type JsonSchema, type Schema, validate } from "../base/schema/schema.ts";
import { type Subschema, subschemasOf } from "../base/schema/subschemas-of.ts";
import { list } from "../base/show.ts";
import type { Validation } from "../base/validation.ts";
import { extraKeys } from "./extra-keys.ts";

/** What a prompt's answer must be. */
export interface OutputContract<Output = unknown> {
  readonly schema: Schema<Output>;
  /** `"list"`: the model writes `{ "items": [...] }`, because providers want an object. */
  readonly shape: "object" | "list";
  /** What the model is told to fit. */
  readonly jsonSchema: JsonSchema;
}

/** Fields the schema does not name are refused throughout, unless extra keys are allowed. */
export function outputContract<Output>(
  schema: Schema<Output>,
  allowExtraKeys: boolean,
  field: string,
): OutputContract<Output> {
  const described = checkSchema(schema, field, ["object", "array"]);
  const own = allowExtraKeys ? described : closedSchema(described);
  if (described["type"] === "object") return contractOf(schema, "object", own);
  const { $defs, $id: _, ...items } = moved(own);
  const jsonSchema = {
    type: "object",
    properties: { items },
    required: ["items"],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
  };
  return contractOf(schema, "list", jsonSchema);
}

/** The schema itself stays as its owner made it. */
function contractOf<Output>(
  schema: Schema<Output>,
  shape: OutputContract["shape"],
  jsonSchema: JsonSchema,
): OutputContract<Output> {
  return Object.freeze({ schema, shape, jsonSchema: deepFreeze(jsonSchema) });
}

/**
 * Rewrites the references of a list schema that is no longer the root: they must find it below
 * `items`. Only `$defs` stays at the root.
 */
function moved(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, part: unknown) =>
    key === "$ref" && typeof part === "string" && /^#(?!\/\$defs\/)(\/|$)/.test(part)
      ? `#/properties/items${part.slice(1)}`
      : part,
  );
  return JSON.parse(text) as JsonSchema;
}

/** Reads an answer: a json block if there is one, else the whole text, else the first JSON in it. */
export async function readOutput<Output>(
  { schema, shape, jsonSchema }: OutputContract<Output>,
  text: string,
): Promise<Validation<Output>> {
  const found = findJson(text, shape);
  if (!found.ok) return found;
  const value =
    shape === "list" && Array.isArray(found.value) ? { items: found.value } : found.value;
  if (!isPlainObject(value)) return { ok: false, problem: `it is not a JSON ${shape}` };
  const extra = extraKeys(value, jsonSchema);
  if (extra.length > 0)
    return { ok: false, problem: `it has fields nobody asked for: ${list(extra)}` };
  return await validate(schema, shape === "list" ? value["items"] : value);
}

/** A text that opens more brackets than this without closing one is no answer. */
const MOST_BRACKETS = 200;

function findJson(text: string, shape: OutputContract["shape"]): Validation<unknown> {
  const block = /```json[ \t]*\r?\n([\s\S]*?)\n[ \t]*```/i.exec(text)?.[1];
  if (block !== undefined) return parseJson(block);
  const whole = parseJson(text.trim());
  if (whole.ok) return whole;
  // Prose has brackets of its own, like the [1] of a citation: an object starts with a brace.
  const starts = [...text.matchAll(shape === "object" ? /\{/g : /[{[]/g)];
  for (const { index } of starts.slice(0, MOST_BRACKETS)) {
    const end = endOfJson(text, index);
    const part = end === null ? null : parseJson(text.slice(index, end));
    if (part?.ok) return part;
  }
  return { ok: false, problem: "there is no JSON object or list in it" };
}

/** Where the bracket at `start` closes, strings skipped; `null` if it never does. */
function endOfJson(text: string, start: number): number | null {
  let depth = 0;
  let inString = false;
  for (let index = start; index < text.length; index++) {
    const char = text[index];
    if (inString) {
      if (char === "\\") index++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return index + 1;
  }
  return null;
}

/**
 * Closes every object in a schema to fields it does not name. Definitions that are put together with
 * other schemas stay open: closed, they would refuse the fields of the others.
 */
function closedSchema(schema: JsonSchema): JsonSchema {
  const all = closed(schema) as JsonSchema;
  if (![...subschemasOf(schema)].some(isComposed)) return all;
  const definitions = ["$defs", "definitions"].filter((name) => name in schema);
  return { ...all, ...Object.fromEntries(definitions.map((name) => [name, schema[name]])) };
}

function isComposed({ schema }: Subschema): boolean {
  if (!isPlainObject(schema)) return false;
  return "allOf" in schema || ("$ref" in schema && "properties" in schema);
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isPlainObject(schema)) return schema;
  const inner = Object.entries(schema).map(
    ([key, part]) => [key, closedPart(key, part, schema)] as const,
  );
  const isOpen = schema["type"] === "object" && !naming.some((keyword) => keyword in schema);
  return Object.fromEntries(isOpen ? [...inner, ["additionalProperties", false]] : inner);
}

/** Keywords that decide about fields other than those in `properties`. */
const naming = [
  ...["additionalProperties", "unevaluatedProperties", "patternProperties", "dependentSchemas"],
  ...["allOf", "anyOf", "oneOf", "if", "$ref"],
];

function closedPart(key: string, part: unknown, { properties }: JsonSchema): unknown {
  if (key === "properties" || key === "$defs" || key === "definitions") {
    return isPlainObject(part)
      ? Object.fromEntries(Object.entries(part).map(([name, schema]) => [name, closed(schema)]))
      : part;
  }
  if (properties && (key === "anyOf" || key === "oneOf")) return part; // they add to its fields
  const isSchema = ["items", "prefixItems", "anyOf", "oneOf", "additionalProperties"].includes(key);
  return isSchema ? closed(part) : part;
}
