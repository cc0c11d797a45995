import { deepFreeze, isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import { quoteNames } from "../base/quote-value.ts";
import { checkSchema, type JsonSchema, type Schema, validate } from "../base/schema/schema.ts";
import type { Validation } from "../base/schema/validation.ts";
import { type Subschema, walkSubschemas } from "../base/schema/walk-subschemas.ts";
import { findUndeclaredKeys } from "./find-undeclared-keys.ts";

/** The required form of a prompt's answer. */
export interface OutputContract<Output = unknown> {
  /** Schema that validates the answer. */
  readonly schema: Schema<Output>;
  /** `"list"`: the model writes `{ "items": [...] }`, because providers require an object. */
  readonly shape: "object" | "list";
  /** JSON Schema that the model's answer must match. */
  readonly jsonSchema: JsonSchema;
}

/**
 * Creates the contract of an output schema. Undeclared fields are rejected at every depth unless
 * `allowExtraKeys` is set.
 */
export function createOutputContract<Output>(
  schema: Schema<Output>,
  allowExtraKeys: boolean,
  field: string,
): OutputContract<Output> {
  const described = checkSchema(schema, field, ["object", "array"]);
  const own = allowExtraKeys ? described : closeSchema(described);
  if (described["type"] === "object") return freezeContract(schema, "object", own);
  const { $defs, $id: _, ...items } = rebaseReferences(own);
  const jsonSchema = {
    type: "object",
    properties: { items },
    required: ["items"],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
  };
  return freezeContract(schema, "list", jsonSchema);
}

/** Freezes the JSON Schema only. The schema itself belongs to the caller. */
function freezeContract<Output>(
  schema: Schema<Output>,
  shape: OutputContract["shape"],
  jsonSchema: JsonSchema,
): OutputContract<Output> {
  return Object.freeze({ schema, shape, jsonSchema: deepFreeze(jsonSchema) });
}

/**
 * Rewrites the references of a list schema that moves below `items`. Only `$defs` stays at the
 * root.
 */
function rebaseReferences(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, part: unknown) =>
    key === "$ref" && typeof part === "string" && /^#(?!\/\$defs\/)(\/|$)/.test(part)
      ? `#/properties/items${part.slice(1)}`
      : part,
  );
  return JSON.parse(text) as JsonSchema;
}

/**
 * Parses an answer: its first JSON block if it has one, else the whole text, else the first JSON
 * value in the text.
 */
export async function parseOutput<Output>(
  { schema, shape, jsonSchema }: OutputContract<Output>,
  text: string,
): Promise<Validation<Output>> {
  const found = findJson(text, shape);
  if (!found.ok) return found;
  const value =
    shape === "list" && Array.isArray(found.value) ? { items: found.value } : found.value;
  if (!isPlainObject(value)) return { ok: false, problem: `it is not a JSON ${shape}` };
  const extra = findUndeclaredKeys(value, jsonSchema);
  if (extra.length > 0)
    return { ok: false, problem: `it has undeclared fields: ${quoteNames(extra)}` };
  return await validate(schema, shape === "list" ? value["items"] : value);
}

/** Opening brackets to try before giving up, to limit the cost of a text that closes none. */
const MAX_BRACKETS = 200;

function findJson(text: string, shape: OutputContract["shape"]): Validation<unknown> {
  const block = /```json[ \t]*\r?\n([\s\S]*?)\n[ \t]*```/i.exec(text)?.[1];
  if (block !== undefined) return parseJson(block);
  const whole = parseJson(text.trim());
  if (whole.ok) return whole;
  // Prose contains brackets, such as the [1] of a citation. An object starts with a brace.
  const starts = [...text.matchAll(shape === "object" ? /\{/g : /[{[]/g)];
  for (const { index } of starts.slice(0, MAX_BRACKETS)) {
    const end = findJsonEnd(text, index);
    const part = end === null ? null : parseJson(text.slice(index, end));
    if (part?.ok) return part;
  }
  return { ok: false, problem: "it contains no JSON object or list" };
}

/**
 * Returns the index after the closing bracket that matches `start`, ignoring strings, or `null`.
 */
function findJsonEnd(text: string, start: number): number | null {
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
 * Adds `additionalProperties: false` to every object in a schema. Definitions that are composed
 * with other schemas stay open; if closed, they would reject the fields of the others.
 */
function closeSchema(schema: JsonSchema): JsonSchema {
  const all = closeObjects(schema) as JsonSchema;
  if (![...walkSubschemas(schema)].some(isComposed)) return all;
  const definitions = ["$defs", "definitions"].filter((name) => name in schema);
  return { ...all, ...Object.fromEntries(definitions.map((name) => [name, schema[name]])) };
}

function isComposed({ schema }: Subschema): boolean {
  if (!isPlainObject(schema)) return false;
  return "allOf" in schema || ("$ref" in schema && "properties" in schema);
}

function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (!isPlainObject(schema)) return schema;
  const inner = Object.entries(schema).map(
    ([key, part]) => [key, closeKeyword(key, part, schema)] as const,
  );
  const isOpen = schema["type"] === "object" && !fieldKeywords.some((keyword) => keyword in schema);
  return Object.fromEntries(isOpen ? [...inner, ["additionalProperties", false]] : inner);
}

/** Keywords that determine which fields are allowed in addition to `properties`. */
const fieldKeywords = [
  ...["additionalProperties", "unevaluatedProperties", "patternProperties", "dependentSchemas"],
  ...["allOf", "anyOf", "oneOf", "if", "$ref"],
];

function closeKeyword(key: string, part: unknown, { properties }: JsonSchema): unknown {
  if (key === "properties" || key === "$defs" || key === "definitions") {
    return isPlainObject(part)
      ? Object.fromEntries(
          Object.entries(part).map(([name, schema]) => [name, closeObjects(schema)]),
        )
      : part;
  }
  if (properties && (key === "anyOf" || key === "oneOf")) return part; // they add fields
  const isSchema = ["items", "prefixItems", "anyOf", "oneOf", "additionalProperties"].includes(key);
  return isSchema ? closeObjects(part) : part;
}
