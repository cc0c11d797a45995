import { isPlainObject } from "../base/freeze.ts";
import { type JsonSchema, listFields } from "../base/schema/schema.ts";
import { parseJsonPointer, walkSubschemas } from "../base/schema/walk-subschemas.ts";

/** Returns the paths of fields that a closed schema does not declare. */
export function findUndeclaredKeys(value: unknown, root: JsonSchema): readonly string[] {
  // Alternatives may lead to the same part repeatedly. Check each pair of value and schema once.
  const known = new Map<unknown, Map<JsonSchema, readonly string[]>>();
  return findAt(value, root, "");

  /** Among alternatives, uses the schema with the fewest undeclared fields. */
  function findAt(part: unknown, schema: unknown, place: string): readonly string[] {
    if (typeof part !== "object" || part === null) return [];
    const candidates = expandSchema(part, schema, root).map((form) => {
      const ofPart = known.get(part) ?? new Map<JsonSchema, readonly string[]>();
      known.set(part, ofPart);
      const extra = ofPart.get(form) ?? findIn(part, form, place);
      ofPart.set(form, extra);
      return extra;
    });
    return candidates.sort((one, other) => one.length - other.length)[0] ?? [];
  }

  function findIn(part: object, schema: JsonSchema, place: string): readonly string[] {
    const { prefixItems, items, patternProperties, additionalProperties } = schema as Keywords;
    if (Array.isArray(part)) {
      const first = Array.isArray(prefixItems) ? prefixItems : [];
      return part.flatMap((item, index) =>
        findAt(item, first[index] ?? items, `${place}${index}.`),
      );
    }
    const fields = listFields(schema);
    const isClosed = additionalProperties === false && patternProperties === undefined;
    return Object.entries(part).flatMap(([name, field]) => {
      if (isClosed && !fields.has(name)) return [`${place}${name}`];
      return findAt(field, fields.get(name) ?? additionalProperties, `${place}${name}.`);
    });
  }
}

/**
 * Lists the schemas that may apply to a value, with references resolved and alternatives expanded.
 */
function expandSchema(part: object, schema: unknown, root: JsonSchema): readonly JsonSchema[] {
  if (!isPlainObject(schema)) return [];
  const { $ref, anyOf, oneOf, type } = schema as Keywords;
  if (typeof $ref === "string") return expandSchema(part, resolveReference($ref, root), root);
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return either.flatMap((one) => expandSchema(part, one, root));
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const kind = Array.isArray(part) ? "array" : "object";
  return types.includes(kind) || type === undefined ? [schema] : [];
}

/** Resolves a `$ref`: `"#/$defs/tree"` by its path, `"#tree"` by its `$anchor`. */
function resolveReference(reference: string, root: JsonSchema): unknown {
  const steps = parseJsonPointer(reference);
  if (!steps) return findAnchor(reference.slice(1), root);
  return steps.reduce<unknown>(
    (at, step) => (Object.hasOwn(Object(at), step) ? Object(at)[step] : undefined),
    root,
  );
}

function findAnchor(name: string, root: JsonSchema): unknown {
  for (const { schema } of walkSubschemas(root)) {
    if (isPlainObject(schema) && schema["$anchor"] === name) return schema;
  }
  return undefined;
}

interface Keywords {
  readonly $ref?: unknown;
  readonly anyOf?: unknown;
  readonly oneOf?: unknown;
  readonly type?: unknown;
  readonly prefixItems?: unknown;
  readonly items?: unknown;
  readonly patternProperties?: unknown;
  readonly additionalProperties?: unknown;
}
