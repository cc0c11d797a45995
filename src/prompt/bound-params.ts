import { PromptValidationError } from "../base/errors.ts";
import { frozenCopy, isPlainObject } from "../base/freeze.ts";
import { suggestion } from "../base/nearest.ts";
import { fieldsOf, validateNow } from "../base/schema/schema.ts";
import { list } from "../base/show.ts";
import type { BoundParams, Placed } from "./outline.ts";
import type { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";

/** Shares one flat record out among the sections; each gets its own fields and its defaults. */
export function bindParams(
  { name, outline }: { readonly name: string; readonly outline: readonly Placed[] },
  params: object,
): BoundParams {
  const given = checkRecord(params, name);
  checkKnown(given, outline, name);
  return new Map(outline.map((placed) => [placed, ownParams(placed, given, name)]));
}

function checkRecord(params: object, name: string): Readonly<Record<string, unknown>> {
  if (isPlainObject(params)) {
    const given = Object.entries(params).filter(([, value]) => value !== undefined);
    return frozenCopy(Object.fromEntries(given));
  }
  throw new PromptValidationError({
    field: `Prompt "${name}" bind(params)`,
    value: params,
    rule: "must be a plain object",
    remedy: "give one record with what all sections need: bind({ topic })",
  });
}

function checkKnown(given: object, outline: readonly Placed[], name: string): void {
  if (outline.some(({ section }) => takesAnything(section))) return;
  const known = outline.flatMap(({ section }) => [...fieldNames(section.paramsSchema)]);
  const unknown = Object.keys(given).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const near = suggestion(unknown, known);
  const there = known.length > 0 ? `there are ${list(new Set(known))}` : "no section declares any";
  throw new PromptValidationError({
    field: `Prompt "${name}" bind(params)`,
    value: unknown,
    rule: "must only have what some section declares",
    remedy: near ? `did you mean "${near}"?` : there,
  });
}

/** Only the section's own fields: a strict schema would refuse those of the others. */
function ownParams({ section, path }: Placed, given: object, name: string): object {
  if (!section.params) return takesAnything(section) ? { ...section.defaultParams, ...given } : {};
  const fields = fieldNames(section.paramsSchema);
  const all = Object.entries({ ...section.defaultParams, ...given });
  const own = takesAnything(section) ? all : all.filter(([field]) => fields.has(field));
  const params = validateNow(section.params, Object.fromEntries(own));
  if (params.ok && isPlainObject(params.value)) return params.value;
  throw new PromptValidationError({
    field: `Prompt "${name}" params of section "${path}"`,
    value: Object.fromEntries(own),
    rule: params.ok
      ? "must be an object once validated"
      : `must fit its schema (${params.problem})`,
    remedy: "bind what is missing or correct it",
  });
}

function fieldNames(schema: Placed["section"]["paramsSchema"]): ReadonlySet<string> {
  return new Set(schema ? fieldsOf(schema).keys() : []);
}

/** Its schema is open to more, or it renders params of which no schema tells. */
function takesAnything(section: Section): boolean {
  if (section.paramsSchema) return Boolean(section.paramsSchema["additionalProperties"]);
  return !(section instanceof MarkdownSection) && section.render.length > 0;
}
