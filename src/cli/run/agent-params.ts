import { isPlainObject } from "../../base/freeze.ts";
import { readStrings } from "../../base/json.ts";
import { type JsonSchema, listFields } from "../../base/schema/schema.ts";
import { acceptsAnyParams } from "../../prompt/bind-params.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { Agent } from "./load-agent.ts";

/** A type of JSON Schema. */
export type JsonType = "string" | "number" | "integer" | "boolean" | "array" | "object" | "null";

/** The params of an agent, as its schemas declare them. */
export interface AgentParams {
  /** The types that each param accepts, by its name. An empty set accepts any value. */
  readonly types: ReadonlyMap<string, ReadonlySet<JsonType>>;
  /** The params that have no default. */
  readonly required: readonly string[];
  /** Whether other params are accepted too. */
  readonly isOpen: boolean;
  /** Whether the params are an object. The request of a loop may be any JSON. */
  readonly isObject: boolean;
}

/** Lists the params of a prompt's sections, or the fields of a loop's requests. */
export function listAgentParams(agent: Agent): AgentParams {
  return agent.kind === "prompt"
    ? listPromptParams(agent.prompt)
    : listRequestFields(agent.loop.requestSchema);
}

function listPromptParams({ template }: Prompt): AgentParams {
  const sections = template.outline.map(({ section }) => section);
  const schemas = sections.flatMap(({ paramsSchema }) => (paramsSchema ? [paramsSchema] : []));
  const required = sections.flatMap(({ paramsSchema, defaultParams }) =>
    listRequired(paramsSchema ?? {}).filter((name) => !Object.hasOwn(defaultParams ?? {}, name)),
  );
  return {
    types: listTypesByName(schemas.map((schema) => [schema, schema])),
    required: [...new Set(required)],
    isOpen: sections.some(acceptsAnyParams),
    isObject: true,
  };
}

function listRequestFields(root: JsonSchema): AgentParams {
  const variants = listVariants(root, root);
  const [first, ...others] = variants.map((variant) => listRequired(variant));
  return {
    types: listTypesByName(variants.map((variant) => [variant, root])),
    required: first?.filter((name) => others.every((names) => names.includes(name))) ?? [],
    isOpen: variants.some(
      (variant) => variant["type"] !== "object" || Boolean(variant["additionalProperties"]),
    ),
    isObject: variants.some(({ type }) => type === "object" || type === undefined),
  };
}

function listRequired(schema: JsonSchema): readonly string[] {
  return readStrings(schema, "required");
}

type SchemaWithRoot = readonly [schema: JsonSchema, root: JsonSchema];

function listTypesByName(
  schemas: readonly SchemaWithRoot[],
): ReadonlyMap<string, ReadonlySet<JsonType>> {
  const types = new Map<string, ReadonlySet<JsonType>>();
  for (const [schema, root] of schemas) {
    for (const [name, field] of listFields(schema)) {
      const found = listTypes(field, root);
      types.set(name, mergeTypes([types.get(name) ?? found, found]));
    }
  }
  return types;
}

const TYPES: readonly JsonType[] = [
  "string",
  "number",
  "integer",
  "boolean",
  "array",
  "object",
  "null",
];

/** Returns the types that a schema accepts; none if it accepts any, or does not name them. */
function listTypes(schema: JsonSchema, root: JsonSchema): ReadonlySet<JsonType> {
  return mergeTypes(listVariants(schema, root).map(readTypes));
}

function readTypes(variant: JsonSchema): ReadonlySet<JsonType> {
  const { type, enum: values } = variant;
  if (type !== undefined) {
    return new Set(
      TYPES.filter((one) => one === type || (Array.isArray(type) && type.includes(one))),
    );
  }
  if (Array.isArray(values)) return new Set(values.map(getType));
  return new Set("const" in variant ? [getType(variant["const"])] : []);
}

/** A schema that accepts any value makes the others irrelevant. */
function mergeTypes(sets: readonly ReadonlySet<JsonType>[]): ReadonlySet<JsonType> {
  return sets.some(({ size }) => size === 0) ? new Set() : new Set(sets.flatMap((set) => [...set]));
}

/** Returns the JSON type of a parsed value. */
export function getType(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "object";
}

/** Most references and unions inside each other. Later ones count as schemas that accept any value. */
const MAX_DEPTH = 20;

/** Returns the alternatives and parts of a schema, with its references resolved. */
function listVariants(schema: JsonSchema, root: JsonSchema, depth = 0): readonly JsonSchema[] {
  if (depth > MAX_DEPTH) return [{}];
  const { $ref, anyOf, oneOf, allOf } = schema;
  const target = typeof $ref === "string" ? findReference($ref, root) : undefined;
  const options = target ? [target] : (anyOf ?? oneOf ?? allOf);
  if (!Array.isArray(options)) return [schema];
  return options.flatMap((option: unknown) =>
    listVariants(isPlainObject(option) ? option : {}, root, depth + 1),
  );
}

/** Finds `#/$defs/name`. Other references are not resolved. */
function findReference(reference: string, root: JsonSchema): JsonSchema | undefined {
  if (reference === "#") return root;
  const [, place, name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  return place === undefined ? undefined : listFields({ properties: root[place] }).get(name);
}
