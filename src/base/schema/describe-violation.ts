import type { OutputUnit } from "@cfworker/json-schema";
import { isPlainObject } from "../freeze.ts";
import { list, show } from "../show.ts";
import type { CheckedJsonSchema } from "./check-json-schema.ts";
import { applicators, typeNames } from "./json-schema-keywords.ts";
import type { JsonSchema } from "./schema.ts";
import { readJsonPointer } from "./subschemas-of.ts";

/** A keyword that a value does not satisfy. */
export interface Violation {
  readonly keyword: string;
  /** The schema that has the keyword; `false` is one that allows nothing. */
  readonly schema: JsonSchema | false;
  /** The keyword that applies that schema, such as `properties`, and the schema around it. */
  readonly applicator: string | undefined;
  readonly outer: JsonSchema;
  /** Where the keyword is, through every `$ref` on the way, as a JSON pointer. */
  readonly location: string;
  /** Where the value is, from the root of what is validated. */
  readonly path: readonly (string | number)[];
  /** The value there, or the property's name where a name is what is wrong. */
  readonly value: unknown;
  /** Whether a property's name is wrong, and not its value. */
  readonly isName: boolean;
}

/** What is wrong at one place, in words that a model can act on. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Set where the value has the wrong type or is none of the allowed values. */
  readonly expected?: Mismatch;
}

/** A value, and what it should be instead. */
export interface Mismatch {
  readonly by: "type" | "value";
  /** What it may be, in words: `["a string", "null"]`. Not all of them, if there are many. */
  readonly choices: readonly string[];
  /** How many more there are. */
  readonly others: number;
  readonly value: unknown;
  /** Whether it is the name of a property. */
  readonly isName: boolean;
}

/** Finds the value and the keyword of each of the validator's errors. */
export function readViolations(
  units: readonly OutputUnit[],
  checked: CheckedJsonSchema,
  value: unknown,
): readonly Violation[] {
  return units.flatMap((unit) => {
    const { schema, applicator, outer, passed } = findKeyword(unit.keywordLocation, checked);
    // Items that `contains` passes over are not mistakes.
    if (passed.has("contains")) return [];
    const { path, found } = findValue(unit.instanceLocation, value);
    const isName = passed.has("propertyNames");
    return {
      keyword: unit.keyword,
      schema,
      applicator,
      outer,
      location: unit.keywordLocation,
      path,
      value: isName ? path.at(-1) : found,
      isName,
    };
  });
}

function findKeyword(location: string, { schema: root, targets }: CheckedJsonSchema) {
  const steps = (readJsonPointer(location) ?? []).slice(0, -1); // the last one is the keyword
  const passed = new Set<string>();
  let outer: JsonSchema = root;
  let schema: unknown = root;
  let applicator: string | undefined;
  for (let index = 0; index < steps.length; index++) {
    if (!isPlainObject(schema)) break;
    outer = schema;
    applicator = steps[index] ?? "";
    passed.add(applicator);
    const value: unknown = schema[applicator];
    if (applicator === "$ref") schema = targets.get(String(value))?.schema;
    else if (applicators.get(applicator) === "schema") schema = value;
    else schema = Object(value)[steps[++index] ?? ""];
  }
  return { schema: isPlainObject(schema) ? schema : (false as const), applicator, outer, passed };
}

function findValue(location: string, root: unknown) {
  const path: (string | number)[] = [];
  let found = root;
  for (const step of readJsonPointer(location) ?? []) {
    path.push(Array.isArray(found) ? Number(step) : step);
    found = Object(found)[step];
  }
  return { path, found };
}

/** Says what is wrong: one problem, or one for each missing property. */
export function describeViolation(violation: Violation): readonly Problem[] {
  const { keyword, schema, path, value, isName } = violation;
  const subject = isName ? "its name " : "";
  if (schema === false) return [{ path, message: `${subject}${describeForbidden(violation)}` }];
  const limit = schema[keyword];
  if (keyword === "required") return describeMissing(violation, limit, "is required");
  if (keyword === "dependentRequired") return describeDependents(violation, limit);
  const allowed = allowedBy(keyword, limit);
  if (allowed) {
    const by = keyword === "type" ? "type" : "value";
    const choices = allowed.slice(0, MAX_CHOICES).map((one) => wordFor(one, by));
    const others = allowed.length - choices.length;
    const expected: Mismatch = { by, choices, others, value, isName };
    return [{ path, message: describeMismatch(expected), expected }];
  }
  return [{ path, message: `${subject}${describeLimit(keyword, schema, value)}` }];
}

/** Says what a value should be: `"must be a string or null, got 3"`. */
export function describeMismatch({ choices, others, value, isName }: Mismatch): string {
  const all = [...new Set(choices)];
  const first = all.slice(0, MAX_CHOICES);
  const rest = others + all.length - first.length;
  const last = rest > 0 ? `one of ${rest} others` : first.pop();
  const allowed = first.length > 0 ? `${first.join(", ")} or ${last}` : last;
  return `${isName ? "its name " : ""}must be ${allowed}, got ${show(value)}`;
}

const MAX_CHOICES = 12;

function allowedBy(keyword: string, limit: unknown): readonly unknown[] | undefined {
  if (keyword === "const") return [limit];
  if (keyword !== "enum" && keyword !== "type") return undefined;
  return Array.isArray(limit) ? limit : [limit];
}

function wordFor(choice: unknown, by: Mismatch["by"]): string {
  return (by === "type" && typeNames.get(choice)) || show(choice);
}

/** Names the properties there are, if the value is one too many. */
function describeForbidden({ applicator, outer }: Violation): string {
  const isExtra = applicator === "additionalProperties" || applicator === "unevaluatedProperties";
  const names = isPlainObject(outer["properties"]) ? Object.keys(outer["properties"]) : [];
  return isExtra && names.length > 0 ? `is not allowed, only ${list(names)}` : "is not allowed";
}

function describeMissing(
  { path, value }: Violation,
  names: unknown,
  message: string,
): readonly Problem[] {
  return Object.values<string>(Object(names))
    .filter((name) => !Object.hasOwn(Object(value), name))
    .map((name) => ({ path: [...path, name], message }));
}

function describeDependents(violation: Violation, dependents: unknown): readonly Problem[] {
  return Object.entries(Object(dependents))
    .filter(([name]) => Object.hasOwn(Object(violation.value), name))
    .flatMap(([name, needed]) =>
      describeMissing(violation, needed, `is required when ${show(name)} is present`),
    );
}

/** Describes a value that is beyond a limit or has the wrong form: `"must be at least 3, got 1"`. */
function describeLimit(keyword: string, schema: JsonSchema, value: unknown): string {
  const limit = keyword === "contains" ? 1 : schema[keyword];
  const size = sizes.get(keyword);
  if (size) {
    const [bound, one, many] = size;
    const amount = `must have ${bound} ${limit} ${limit === 1 ? one : many}`;
    return /contains/i.test(keyword)
      ? `${amount} matching ${show(schema["contains"])}`
      : `${amount}, has ${sizeOf(value)}`;
  }
  if (keyword === "uniqueItems") return "must not have duplicate items";
  const rule = rules.get(keyword) ?? `satisfy ${keyword}`;
  return `must ${rule} ${typeof limit === "number" ? limit : show(limit)}, got ${show(value)}`;
}

const sizes: ReadonlyMap<string, readonly [bound: string, one: string, many: string]> = new Map([
  ["minLength", ["at least", "character", "characters"]],
  ["maxLength", ["at most", "character", "characters"]],
  ["minItems", ["at least", "item", "items"]],
  ["maxItems", ["at most", "item", "items"]],
  ["contains", ["at least", "item", "items"]],
  ["minContains", ["at least", "item", "items"]],
  ["maxContains", ["at most", "item", "items"]],
  ["minProperties", ["at least", "property", "properties"]],
  ["maxProperties", ["at most", "property", "properties"]],
]);

const rules: ReadonlyMap<string, string> = new Map([
  ["minimum", "be at least"],
  ["maximum", "be at most"],
  ["exclusiveMinimum", "be greater than"],
  ["exclusiveMaximum", "be less than"],
  ["multipleOf", "be a multiple of"],
  ["pattern", "match the pattern"],
  ["format", "have the format"],
  ["not", "not match"],
]);

/** Counts the characters of a string as JSON Schema does, by code points. */
function sizeOf(value: unknown): number {
  return typeof value === "string" ? [...value].length : Object.keys(Object(value)).length;
}
