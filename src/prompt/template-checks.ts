import { PromptValidationError } from "../base/errors.ts";
import { fieldsOf, type JsonSchema } from "../base/schema/schema.ts";
import { list } from "../base/show.ts";
import type { Placed } from "./outline.ts";

/** Tools that the library itself offers to the model. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(["open_sections", "read_section"]);

/** Refuses two sections at one path. */
export function checkPaths(outline: readonly Placed[], template: string): void {
  const seen = new Set<string>();
  for (const { path, section } of outline) {
    if (!seen.has(path)) seen.add(path);
    else {
      throw new PromptValidationError({
        field: `Template "${template}" section "${path}"`,
        value: section.key,
        rule: "must have a key that none of its siblings has",
        remedy: "give one of the two another key",
      });
    }
  }
}

/** Refuses two things the model could not tell apart, enabled or not, and names that are ours. */
export function checkNames(outline: readonly Placed[], template: string): void {
  const owners = new Map<string, string>();
  for (const { path, section } of outline) {
    for (const { name } of [...section.tools(), ...section.hostedTools()]) {
      const field = `Template "${template}" section "${path}" tool`;
      const owner = owners.get(name);
      if (owner !== undefined) {
        const rule = `must have a name of its own, and section "${owner}" has that one`;
        const remedy = "rename one of the two tools";
        throw new PromptValidationError({ field, value: name, rule, remedy });
      }
      if (RESERVED_NAMES.has(name)) {
        const rule = `must not be called ${list(RESERVED_NAMES)}`;
        const remedy = "these names belong to the library; choose another";
        throw new PromptValidationError({ field, value: name, rule, remedy });
      }
      owners.set(name, path);
    }
  }
}

/** Refuses two sections that declare one param in ways no value can satisfy. */
export function checkTwins(outline: readonly Placed[], template: string): void {
  const declared = new Map<string, { readonly path: string; readonly schema: JsonSchema }[]>();
  for (const { path, section } of outline) {
    for (const [name, schema] of section.paramsSchema ? fieldsOf(section.paramsSchema) : []) {
      const others = declared.get(name) ?? [];
      const rival = others.find((other) => !mayAgree(other.schema, schema));
      if (rival) {
        throw new PromptValidationError({
          field: `Template "${template}" param "${name}"`,
          value: { [rival.path]: rival.schema, [path]: schema },
          rule: `must have one type, and sections "${rival.path}" and "${path}" differ`,
          remedy: "rename one of the two or make their types agree",
        });
      }
      declared.set(name, [...others, { path, schema }]);
    }
  }
}

/** Whether some value may fit both; in doubt, yes: each section still validates its own. */
function mayAgree(one: JsonSchema, other: JsonSchema): boolean {
  const values = [valuesOf(one), valuesOf(other)] as const;
  if (values[0] && values[1]) return values[0].some((value) => values[1]?.includes(value));
  const types = [typesOf(one), typesOf(other)] as const;
  if (types[0].length === 0 || types[1].length === 0) return true;
  return types[0].some((type) => types[1].includes(type));
}

function valuesOf({
  enum: values,
  const: value,
}: {
  enum?: unknown;
  const?: unknown;
}): readonly unknown[] | null {
  if (Array.isArray(values)) return values;
  return value === undefined ? null : [value];
}

function typesOf({ type }: { type?: unknown }): readonly unknown[] {
  const types: readonly unknown[] = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return types.map((name) => (name === "integer" ? "number" : name));
}
