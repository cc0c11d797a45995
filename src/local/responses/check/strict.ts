import { isPlainObject } from "../../../base/freeze.ts";
import { ApiProblem } from "../../api-problem.ts";
import { at, type Shape } from "../../validators/shapes.ts";

/** An object whose schema, under `key`, keeps the rules of `strict: true` if it says so. */
export function strictly(shape: Shape, { key, of, code }: StrictWords): Shape {
  return (value, path) => {
    const problem = shape(value, path);
    if (problem || !isPlainObject(value) || value["strict"] !== true) return problem;
    const complaint = complaintOf(value[key]);
    if (complaint === null) return null;
    const message = `Invalid schema for ${of} '${value["name"]}': ${complaint}`;
    return new ApiProblem(400, message, { param: at(path, key), code });
  };
}

export interface StrictWords {
  /** Where the schema is. */
  readonly key: string;
  /** What it is for: `"function"`. */
  readonly of: string;
  readonly code: string;
}

/** What is wrong with a schema: every object in it names all its keys, and allows no others. */
function complaintOf(root: unknown): string | null {
  if (!isPlainObject(root)) return null;
  if (root["type"] !== "object") {
    const type = typeof root["type"] === "string" ? root["type"] : "None";
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
  }
  const open: Place[] = [{ schema: root, way: [], from: null }]; // a stack of our own: it may be deep
  for (let place = open.pop(); place; place = open.pop()) {
    const rule = brokenRule(place.schema);
    if (rule !== null) return `In context=(${wayTo(place)}), ${rule}`;
    for (const inner of placesIn(place).reverse()) open.push(inner);
  }
  return null;
}

interface Place {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The keys that lead to it from the schema around it. */
  readonly way: readonly string[];
  readonly from: Place | null;
}

function brokenRule(schema: Readonly<Record<string, unknown>>): string | null {
  const { properties, required, additionalProperties } = schema;
  if (schema["type"] !== "object" && !isPlainObject(properties)) return null;
  if (additionalProperties !== false)
    return "'additionalProperties' is required to be supplied and to be false.";
  const names = new Set<unknown>(Array.isArray(required) ? required : []);
  const left = Object.keys(isPlainObject(properties) ? properties : {}).find(
    (key) => !names.has(key),
  );
  if (left === undefined) return null;
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${left}'.`;
}

/** The schemas right within one. */
function placesIn(from: Place): Place[] {
  const { schema } = from;
  const inner = ["properties", "$defs", "definitions", "anyOf"].flatMap((key) =>
    Object.entries(Object(schema[key])).map(([name, part]) => [[key, name], part] as const),
  );
  return [...inner, [["items"], schema["items"]] as const].flatMap(([way, part]) =>
    isPlainObject(part) ? [{ schema: part, way, from }] : [],
  );
}

/** As a tuple of Python's: one alone has a comma. */
function wayTo(place: Place): string {
  const steps: string[] = [];
  for (let here: Place | null = place; here; here = here.from) steps.unshift(...here.way);
  const quoted = steps.map((step) => `'${step}'`);
  return quoted.length === 1 ? `${quoted[0]},` : quoted.join(", ");
}
