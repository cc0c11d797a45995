import { isPlainObject } from "../../../base/freeze.ts";
import { ApiProblem } from "../../api-problem.ts";
import { joinPath, type Validator } from "../../validators/validator.ts";

/** Also checks the schema under `key` against the rules of strict mode if the value has `strict: true`. */
export function requireStrictSchema(shape: Validator, { key, of, code }: StrictWording): Validator {
  return (value, path) => {
    const problem = shape(value, path);
    if (problem || !isPlainObject(value) || value["strict"] !== true) return problem;
    const violation = findViolation(value[key]);
    if (violation === null) return null;
    const message = `Invalid schema for ${of} '${value["name"]}': ${violation}`;
    return new ApiProblem(400, message, { param: joinPath(path, key), code });
  };
}

/** The wording of errors about a strict schema. */
export interface StrictWording {
  /** The key of the schema. */
  readonly key: string;
  /** The owner of the schema: `"function"`. */
  readonly of: string;
  readonly code: string;
}

/** Returns the first violation: in strict mode every object must require all its keys and allow no others. */
function findViolation(root: unknown): string | null {
  if (!isPlainObject(root)) return null;
  if (root["type"] !== "object") {
    const type = typeof root["type"] === "string" ? root["type"] : "None";
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
  }
  const open: SchemaNode[] = [{ schema: root, keys: [], parent: null }]; // an explicit stack, because schemas may be deeply nested
  for (let place = open.pop(); place; place = open.pop()) {
    const rule = checkObjectSchema(place.schema);
    if (rule !== null) return `In context=(${formatPath(place)}), ${rule}`;
    for (const inner of listSubschemas(place).reverse()) open.push(inner);
  }
  return null;
}

interface SchemaNode {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The keys from the enclosing schema to this one. */
  readonly keys: readonly string[];
  readonly parent: SchemaNode | null;
}

function checkObjectSchema(schema: Readonly<Record<string, unknown>>): string | null {
  const { properties, required, additionalProperties } = schema;
  if (schema["type"] !== "object" && !isPlainObject(properties)) return null;
  if (additionalProperties !== false)
    return "'additionalProperties' is required to be supplied and to be false.";
  const names = new Set<unknown>(Array.isArray(required) ? required : []);
  const missingKey = Object.keys(isPlainObject(properties) ? properties : {}).find(
    (key) => !names.has(key),
  );
  if (missingKey === undefined) return null;
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${missingKey}'.`;
}

/** Returns the direct subschemas of a schema. */
function listSubschemas(parent: SchemaNode): SchemaNode[] {
  const { schema } = parent;
  const inner = ["properties", "$defs", "definitions", "anyOf"].flatMap((key) =>
    Object.entries(Object(schema[key])).map(([name, part]) => [[key, name], part] as const),
  );
  return [...inner, [["items"], schema["items"]] as const].flatMap(([keys, part]) =>
    isPlainObject(part) ? [{ schema: part, keys, parent }] : [],
  );
}

/** Formats a path like a Python tuple: a single element is followed by a comma. */
function formatPath(place: SchemaNode): string {
  const steps: string[] = [];
  for (let here: SchemaNode | null = place; here; here = here.parent) steps.unshift(...here.keys);
  const quoted = steps.map((step) => `'${step}'`);
  return quoted.length === 1 ? `${quoted[0]},` : quoted.join(", ");
}
