import type { OutputUnit } from "@cfworker/json-schema";
import { isPlainObject } from "../freeze.ts";
import { quoteNames, quoteValue } from "../quote-value.ts";
import type { CheckedJsonSchema } from "./check-json-schema.ts";
import type { JsonSchema } from "./schema.ts";
import { applicators, typeNames } from "./schema-keywords.ts";
import { parseJsonPointer } from "./walk-subschemas.ts";

/** A keyword that a value does not satisfy. */
export interface Violation {
  readonly keyword: string;
  /** The schema that has the keyword, or `false` for a schema that allows no value. */
  readonly schema: JsonSchema | false;
  /** The keyword that applies the schema, such as `properties`, and the schema around it. */
  readonly applicator: string | undefined;
  readonly outer: JsonSchema;
  /** JSON pointer to the keyword, through every `$ref` on the way. */
  readonly location: string;
  /** Path to the value from the root of the validated data. */
  readonly path: readonly (string | number)[];
  /** The value, or the property's name if `isName` is set. */
  readonly value: unknown;
  /** Whether the property's name is invalid, not its value. */
  readonly isName: boolean;
}

/** One problem of a value, worded for a model to act on. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Set if the value has the wrong type or is not among the allowed values. */
  readonly expected?: Mismatch;
}

/** A value, and the values that are expected. */
export interface Mismatch {
  readonly by: "type" | "value";
  /** The allowed types or values as text: `["a string", "null"]`. May be truncated. */
  readonly choices: readonly string[];
  /** Number of allowed values that `choices` omits. */
  readonly others: number;
  readonly value: unknown;
  /** Whether the value is a property name. */
  readonly isName: boolean;
}

/** Finds the value and the keyword for each of the validator's errors. */
export function readViolations(
  units: readonly OutputUnit[],
  checked: CheckedJsonSchema,
  value: unknown,
): readonly Violation[] {
  return units.flatMap((unit) => {
    const { schema, applicator, outer, passed } = findKeyword(unit.keywordLocation, checked);
    // Items that do not match `contains` are not mistakes.
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
  const steps = (parseJsonPointer(location) ?? []).slice(0, -1); // without the keyword itself
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
  for (const step of parseJsonPointer(location) ?? []) {
    path.push(Array.isArray(found) ? Number(step) : step);
    found = Object(found)[step];
  }
  return { path, found };
}

/** Describes a violation as one problem, or one for each missing property. */
export function describeViolation(violation: Violation): readonly Problem[] {
  const { keyword, schema, path, value, isName } = violation;
  const subject = isName ? "its name " : "";
  if (schema === false) return [{ path, message: `${subject}${describeForbidden(violation)}` }];
  const limit = schema[keyword];
  if (keyword === "required") return describeMissing(violation, limit, "is required");
  if (keyword === "dependentRequired") return describeDependents(violation, limit);
  const allowed = listAllowedValues(keyword, limit);
  if (allowed) {
    const by = keyword === "type" ? "type" : "value";
    const choices = allowed.slice(0, MAX_CHOICES).map((one) => formatChoice(one, by));
    const others = allowed.length - choices.length;
    const expected: Mismatch = { by, choices, others, value, isName };
    return [{ path, message: describeMismatch(expected), expected }];
  }
  return [{ path, message: `${subject}${describeLimit(keyword, schema, value)}` }];
}

/** Describes the expected values: `"must be a string or null, got 3"`. */
export function describeMismatch({ choices, others, value, isName }: Mismatch): string {
  const all = [...new Set(choices)];
  const first = all.slice(0, MAX_CHOICES);
  const rest = others + all.length - first.length;
  const last = rest > 0 ? `one of ${rest} others` : first.pop();
  const allowed = first.length > 0 ? `${first.join(", ")} or ${last}` : last;
  return `${isName ? "its name " : ""}must be ${allowed}, got ${quoteValue(value)}`;
}

const MAX_CHOICES = 12;

function listAllowedValues(keyword: string, limit: unknown): readonly unknown[] | undefined {
  if (keyword === "const") return [limit];
  if (keyword !== "enum" && keyword !== "type") return undefined;
  return Array.isArray(limit) ? limit : [limit];
}

function formatChoice(choice: unknown, by: Mismatch["by"]): string {
  return (by === "type" && typeNames.get(choice)) || quoteValue(choice);
}

/** Lists the allowed properties if the value is an extra property. */
function describeForbidden({ applicator, outer }: Violation): string {
  const isExtra = applicator === "additionalProperties" || applicator === "unevaluatedProperties";
  const names = isPlainObject(outer["properties"]) ? Object.keys(outer["properties"]) : [];
  return isExtra && names.length > 0
    ? `is not allowed, only ${quoteNames(names)}`
    : "is not allowed";
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
      describeMissing(violation, needed, `is required when ${quoteValue(name)} is present`),
    );
}

/** Describes a value that exceeds a limit or has the wrong form: `"must be at least 3, got 1"`. */
function describeLimit(keyword: string, schema: JsonSchema, value: unknown): string {
  const limit = keyword === "contains" ? 1 : schema[keyword];
  const size = sizes.get(keyword);
  if (size) {
    const [bound, one, many] = size;
    const amount = `must have ${bound} ${limit} ${limit === 1 ? one : many}`;
    return /contains/i.test(keyword)
      ? `${amount} matching ${quoteValue(schema["contains"])}`
      : `${amount}, has ${countParts(value)}`;
  }
  if (keyword === "uniqueItems") return "must not have duplicate items";
  const rule = rules.get(keyword) ?? `satisfy ${keyword}`;
  return `must ${rule} ${typeof limit === "number" ? limit : quoteValue(limit)}, got ${quoteValue(value)}`;
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

/** Returns the number of items, properties or characters. JSON Schema counts code points. */
function countParts(value: unknown): number {
  return typeof value === "string" ? [...value].length : Object.keys(Object(value)).length;
}
