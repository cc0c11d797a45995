import { PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { quoteNames, quoteValue } from "../base/quote-value.ts";
import { type JsonSchema, listFields } from "../base/schema/schema.ts";
import { suggestSpelling } from "../base/suggest-spelling.ts";

/** A parsed template with placeholders: `$name` or `${name}`, and `$$` for a dollar sign. */
export interface TemplateText {
  /** Literal text and placeholder names, in order. */
  readonly parts: readonly (string | { readonly name: string })[];
  readonly names: ReadonlySet<string>;
}

/**
 * Parses the text of a section. Placeholders must be fields of the params. In a section without
 * params (`null`), dollar signs have no meaning.
 */
export function parseSectionText(
  text: string,
  params: JsonSchema | null,
  field: string,
): TemplateText {
  if (!params) return { parts: [trimText(text, field)], names: new Set() };
  const parsed = parseTemplate(text, field);
  checkPlaceholders(parsed, new Set(listFields(params).keys()), field);
  return parsed;
}

/** Parses a template. Rejects a `$` that is neither a placeholder nor escaped. */
export function parseTemplate(template: string, field: string): TemplateText {
  const text = trimText(template, field);
  const parts: (string | { readonly name: string })[] = [];
  let read = 0;
  for (const match of text.matchAll(/\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})?/g)) {
    const [whole, dollar, plain, braced] = match;
    if (whole === "$") throw strayDollarError(text, match.index, field);
    parts.push(text.slice(read, match.index));
    const name = plain ?? braced;
    parts.push(name === undefined ? String(dollar) : { name });
    read = match.index + whole.length;
  }
  parts.push(text.slice(read));
  const names = parts.flatMap((part) => (typeof part === "string" ? [] : [part.name]));
  return { parts, names: new Set(names) };
}

/** Rejects placeholders that are not in `fields`. Reports the alphabetically first one. */
export function checkPlaceholders(
  { names }: TemplateText,
  fields: ReadonlySet<string>,
  field: string,
): void {
  const unknown = [...names].filter((name) => !fields.has(name)).sort()[0];
  if (unknown === undefined) return;
  const near = suggestSpelling(unknown, fields);
  const there =
    fields.size > 0 ? `use ${quoteNames(fields)}` : "declare it in the section's params";
  throw new PromptValidationError({
    field,
    value: `$${unknown}`,
    rule: "must only use placeholders of the section's params",
    remedy: near ? `did you mean "$${near}"?` : `${there}, or write $$ for a dollar sign`,
  });
}

/**
 * Replaces placeholders with values: strings unchanged, `null` and `undefined` as empty text,
 * arrays and objects as JSON.
 */
export function fillTemplate({ parts }: TemplateText, params: object): string {
  const values = new Map<string, unknown>(Object.entries(params));
  const filled = parts.map((part) =>
    typeof part === "string" ? part : formatParam(values.get(part.name)),
  );
  return filled.join("").trim();
}

/** Returns the text that a placeholder is replaced with. */
export function formatParam(value: unknown): string {
  if (value === undefined || value === null) return "";
  return Array.isArray(value) || isPlainObject(value) ? JSON.stringify(value) : String(value);
}

/** Removes the indentation and the blank space around a text. Rejects any other value. */
function trimText(text: string, field: string): string {
  if (typeof text === "string") return dedent(text).trim();
  const rule = "must be a string";
  throw new PromptValidationError({ field, value: text, rule, remedy: 'use "" for none' });
}

/** Removes the indentation that all lines share, which a template literal in code adds. */
function dedent(text: string): string {
  const lines = text.split("\n").map((line) => (line.trim() === "" ? "" : line));
  const shared = findCommonPrefix(
    lines.filter((line) => line !== "").map((line) => /^[ \t]*/.exec(line)?.[0] ?? ""),
  );
  return lines.map((line) => line.slice(shared.length)).join("\n");
}

function findCommonPrefix(texts: readonly string[]): string {
  let prefix = texts[0] ?? "";
  for (const text of texts) {
    while (!text.startsWith(prefix)) prefix = prefix.slice(0, -1);
  }
  return prefix;
}

function strayDollarError(text: string, index: number, field: string): PromptValidationError {
  const around = text.slice(Math.max(0, index - 12), index + 12);
  return new PromptValidationError({
    field,
    value: around,
    rule: "must have a name after each $",
    remedy: `write $$ for a dollar sign, near ${quoteValue(around)}`,
  });
}
