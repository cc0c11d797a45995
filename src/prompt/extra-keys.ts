import { isPlainObject } from "../base/freeze.ts";
import { fieldsOf, type JsonSchema } from "../base/schema/schema.ts";
import { readJsonPointer, subschemasOf } from "../base/schema/subschemas-of.ts";

/** Paths of the fields that a closed schema does not name. */
export function extraKeys(value: unknown, root: JsonSchema): readonly string[] {
  // Alternatives may meet the same part again and again: each pair is looked at once.
  const known = new Map<unknown, Map<JsonSchema, readonly string[]>>();
  return extraAt(value, root, "");

  /** Of alternatives, the one that leaves the least over is the one that was meant. */
  function extraAt(part: unknown, schema: unknown, place: string): readonly string[] {
    if (typeof part !== "object" || part === null) return [];
    const found = formsOf(part, schema, root).map((form) => {
      const ofPart = known.get(part) ?? new Map<JsonSchema, readonly string[]>();
      known.set(part, ofPart);
      const extra = ofPart.get(form) ?? extraIn(part, form, place);
      ofPart.set(form, extra);
      return extra;
    });
    return found.sort((one, other) => one.length - other.length)[0] ?? [];
  }

  function extraIn(part: object, schema: JsonSchema, place: string): readonly string[] {
    const { prefixItems, items, patternProperties, additionalProperties } = schema as Keywords;
    if (Array.isArray(part)) {
      const first = Array.isArray(prefixItems) ? prefixItems : [];
      return part.flatMap((item, index) =>
        extraAt(item, first[index] ?? items, `${place}${index}.`),
      );
    }
    const fields = fieldsOf(schema);
    const isClosed = additionalProperties === false && patternProperties === undefined;
    return Object.entries(part).flatMap(([name, field]) => {
      if (isClosed && !fields.has(name)) return [`${place}${name}`];
      return extraAt(field, fields.get(name) ?? additionalProperties, `${place}${name}.`);
    });
  }
}

/** What a schema may mean for such a value: references followed, alternatives told apart. */
function formsOf(part: object, schema: unknown, root: JsonSchema): readonly JsonSchema[] {
  if (!isPlainObject(schema)) return [];
  const { $ref, anyOf, oneOf, type } = schema as Keywords;
  if (typeof $ref === "string") return formsOf(part, referred($ref, root), root);
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return either.flatMap((one) => formsOf(part, one, root));
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const kind = Array.isArray(part) ? "array" : "object";
  return types.includes(kind) || type === undefined ? [schema] : [];
}

/** Finds what a `$ref` points to: `"#/$defs/tree"` by its steps, `"#tree"` by its `$anchor`. */
function referred(reference: string, root: JsonSchema): unknown {
  const steps = readJsonPointer(reference);
  if (!steps) return findAnchor(reference.slice(1), root);
  return steps.reduce<unknown>(
    (at, step) => (Object.hasOwn(Object(at), step) ? Object(at)[step] : undefined),
    root,
  );
}

function findAnchor(name: string, root: JsonSchema): unknown {
  for (const { schema } of subschemasOf(root)) {
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
