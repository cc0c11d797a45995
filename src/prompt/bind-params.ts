import { PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";
import { listFields, validateNow } from "../base/schema/schema.ts";
import { suggestSpelling } from "../base/suggest-spelling.ts";
import { emitWarning } from "../base/warn.ts";
import type { BoundParams, PlacedSection } from "./outline.ts";
import type { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { formatParam, parseSectionText } from "./template-text.ts";

/**
 * Distributes one flat record among the sections. Each section gets its own fields and its
 * defaults.
 */
export function bindParams(
  { name, outline }: { readonly name: string; readonly outline: readonly PlacedSection[] },
  params: object,
): BoundParams {
  const given = checkRecord(params, name);
  checkDeclared(given, outline, name);
  const bound = new Map(outline.map((placed) => [placed, selectParams(placed, given, name)]));
  for (const [placed, own] of bound) warnAboutLongParams(placed, own, name);
  return bound;
}

function checkRecord(params: object, name: string): Readonly<Record<string, unknown>> {
  if (isPlainObject(params)) {
    const given = Object.entries(params).filter(([, value]) => value !== undefined);
    return copyAndFreeze(Object.fromEntries(given));
  }
  throw new PromptValidationError({
    field: `Prompt "${name}" bind(params)`,
    value: params,
    rule: "must be a plain object",
    remedy: "pass one record with the params of all sections: bind({ topic })",
  });
}

function checkDeclared(given: object, outline: readonly PlacedSection[], name: string): void {
  if (outline.some(({ section }) => acceptsAnyParams(section))) return;
  const known = outline.flatMap(({ section }) => [...getFieldNames(section.paramsSchema)]);
  const unknown = Object.keys(given).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const near = suggestSpelling(unknown, known);
  const there =
    known.length > 0
      ? `use ${quoteNames(new Set(known))}`
      : "omit it, because no section declares params";
  throw new PromptValidationError({
    field: `Prompt "${name}" bind(params)`,
    value: unknown,
    rule: "must contain only params that a section declares",
    remedy: near ? `did you mean "${near}"?` : there,
  });
}

/**
 * Selects and validates a section's own fields, because a strict schema would reject other
 * sections' fields.
 */
function selectParams({ section, path }: PlacedSection, given: object, name: string): object {
  if (!section.params)
    return acceptsAnyParams(section) ? { ...section.defaultParams, ...given } : {};
  const fields = getFieldNames(section.paramsSchema);
  const all = Object.entries({ ...section.defaultParams, ...given });
  const own = acceptsAnyParams(section) ? all : all.filter(([field]) => fields.has(field));
  const params = validateNow(section.params, Object.fromEntries(own));
  if (params.ok && isPlainObject(params.value)) return params.value;
  throw new PromptValidationError({
    field: `Prompt "${name}" params of section "${path}"`,
    value: Object.fromEntries(own),
    rule: params.ok
      ? "must be an object after validation"
      : `must match its schema (${params.problem})`,
    remedy: "bind the missing params, or correct them",
  });
}

function getFieldNames(schema: PlacedSection["section"]["paramsSchema"]): ReadonlySet<string> {
  return new Set(schema ? listFields(schema).keys() : []);
}

/** Warns about params that make a system message long: their text is probably not the developer's. */
function warnAboutLongParams(placed: PlacedSection, params: object, name: string): void {
  if (placed.role !== "system") return;
  for (const [param, value] of Object.entries(params)) {
    const length = countInsertedCharacters(placed.section, param, value);
    const warning = `${name} ${placed.path} ${param}`;
    if (length <= MAX_SYSTEM_PARAM || warnedParams.size >= MAX_WARNINGS) continue;
    if (warnedParams.has(warning)) continue;
    warnedParams.add(warning);
    emitWarning(
      `Prompt "${name}" binds ${length} characters to the param "${param}" of the system section ` +
        `"${placed.path}". Use a section with role "user" or the input of evaluate() for text that is ` +
        "not part of the instructions, above all for text that you do not trust.",
    );
  }
}

/** The most characters that a param may insert into a system section without a warning. */
const MAX_SYSTEM_PARAM = 20_000;
/** Limits the memory for programs that create names of prompts. */
const MAX_WARNINGS = 1_000;
/** The params that a warning was emitted for: each is reported once per process. */
const warnedParams = new Set<string>();

/** Counts the characters that a param adds to a section's text. Other classes may use any string. */
function countInsertedCharacters(section: Section, param: string, value: unknown): number {
  const isText = typeof value === "string";
  if (isText && value.length <= MAX_SYSTEM_PARAM) return 0;
  if (!(section instanceof MarkdownSection)) return isText ? value.length : 0;
  if (typeof value !== "object" && !isText) return 0;
  const { names } = parseSectionText(section.template, section.paramsSchema, "template");
  return names.has(param) ? formatParam(value).length : 0;
}

/**
 * Returns whether a section accepts undeclared params: its schema allows additional properties, or
 * it renders params without a schema.
 */
export function acceptsAnyParams(section: Section): boolean {
  if (section.paramsSchema) return Boolean(section.paramsSchema["additionalProperties"]);
  return !(section instanceof MarkdownSection) && section.render.length > 0;
}
