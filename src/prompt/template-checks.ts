import { PromptValidationError } from "../base/errors.ts";
import { quoteNames } from "../base/quote-value.ts";
import { type JsonSchema, listFields } from "../base/schema/schema.ts";
import { type PlacedSection, RESERVED_NAMES, type SectionTools } from "./outline.ts";

/** Rejects two sections with the same path. */
export function checkTemplatePaths(outline: readonly PlacedSection[], template: string): void {
  const seen = new Set<string>();
  for (const { path, section } of outline) {
    if (!seen.has(path)) seen.add(path);
    else {
      throw new PromptValidationError({
        field: `Template "${template}" section "${path}"`,
        value: section.key,
        rule: "must have a key that no sibling has",
        remedy: "rename either key",
      });
    }
  }
}

/** Rejects roles of sections that are not at the top. */
export function checkRoles(outline: readonly PlacedSection[], template: string): void {
  for (const { path, section, parent } of outline) {
    if (section.role === null || parent === null) continue;
    throw new PromptValidationError({
      field: `Template "${template}" section "${path}" role`,
      value: section.role,
      rule: "must be omitted in a section below another, which has its parent's role",
      remedy: "set the role of the top-level section, or move this section to the top",
    });
  }
}

/** Rejects duplicate tool names, enabled or not, and reserved names. */
export function checkToolNames(sections: readonly SectionTools[], template: string): void {
  const owners = new Map<string, string>();
  for (const { path, tools, hostedTools } of sections) {
    for (const { name } of [...tools, ...hostedTools]) {
      const field = `Template "${template}" section "${path}" tool`;
      const owner = owners.get(name);
      if (owner !== undefined) {
        const rule = `must have a unique name, but section "${owner}" also uses it`;
        const remedy = "rename either tool";
        throw new PromptValidationError({ field, value: name, rule, remedy });
      }
      if (RESERVED_NAMES.has(name)) {
        const rule = `must not be named ${quoteNames(RESERVED_NAMES)}`;
        const remedy = "choose another name, because the library uses these";
        throw new PromptValidationError({ field, value: name, rule, remedy });
      }
      owners.set(name, path);
    }
  }
}

/** Rejects a param that two sections declare with incompatible types. */
export function checkParamTypes(outline: readonly PlacedSection[], template: string): void {
  const declared = new Map<string, { readonly path: string; readonly schema: JsonSchema }[]>();
  for (const { path, section } of outline) {
    for (const [name, schema] of section.paramsSchema ? listFields(section.paramsSchema) : []) {
      const others = declared.get(name) ?? [];
      const rival = others.find((other) => !canAgree(other.schema, schema));
      if (rival) {
        throw new PromptValidationError({
          field: `Template "${template}" param "${name}"`,
          value: { [rival.path]: rival.schema, [path]: schema },
          rule: `must have one type, but sections "${rival.path}" and "${path}" differ`,
          remedy: "rename either param, or make their types agree",
        });
      }
      declared.set(name, [...others, { path, schema }]);
    }
  }
}

/**
 * Returns whether some value may match both schemas. If unsure, returns `true`: each section still
 * validates its own params.
 */
function canAgree(one: JsonSchema, other: JsonSchema): boolean {
  const values = [getAllowedValues(one), getAllowedValues(other)] as const;
  if (values[0] && values[1]) return values[0].some((value) => values[1]?.includes(value));
  const types = [getTypes(one), getTypes(other)] as const;
  if (types[0].length === 0 || types[1].length === 0) return true;
  return types[0].some((type) => types[1].includes(type));
}

function getAllowedValues({
  enum: values,
  const: value,
}: {
  enum?: unknown;
  const?: unknown;
}): readonly unknown[] | null {
  if (Array.isArray(values)) return values;
  return value === undefined ? null : [value];
}

function getTypes({ type }: { type?: unknown }): readonly unknown[] {
  const types: readonly unknown[] = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return types.map((name) => (name === "integer" ? "number" : name));
}
