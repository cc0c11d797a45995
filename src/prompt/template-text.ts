import { PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { suggestion } from "../base/nearest.ts";
import { list, show } from "../base/show.ts";

/** Text with holes in it: `$name` or `${name}`, and `$$` for a dollar. */
export interface TemplateText {
  /** Literal text, and the names that stand between. */
  readonly parts: readonly (string | { readonly name: string })[];
  readonly names: ReadonlySet<string>;
}

/** Reads a template and refuses a `$` that is neither a placeholder nor escaped. */
export function readTemplate(template: string, field: string): TemplateText {
  if (typeof template !== "string") {
    const rule = "must be text";
    throw new PromptValidationError({ field, value: template, rule, remedy: 'use "" for none' });
  }
  const text = dedent(template).trim();
  const parts: (string | { readonly name: string })[] = [];
  let read = 0;
  for (const match of text.matchAll(/\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})?/g)) {
    const [whole, dollar, plain, braced] = match;
    if (whole === "$") throw strayDollar(text, match.index, field);
    parts.push(text.slice(read, match.index));
    const name = plain ?? braced;
    parts.push(name === undefined ? String(dollar) : { name });
    read = match.index + whole.length;
  }
  parts.push(text.slice(read));
  const names = parts.flatMap((part) => (typeof part === "string" ? [] : [part.name]));
  return { parts, names: new Set(names) };
}

/** Refuses placeholders for which there is no field; the first by the alphabet is reported. */
export function checkPlaceholders(
  { names }: TemplateText,
  fields: ReadonlySet<string>,
  field: string,
): void {
  const unknown = [...names].filter((name) => !fields.has(name)).sort()[0];
  if (unknown === undefined) return;
  const near = suggestion(unknown, fields);
  const there = fields.size > 0 ? `there are ${list(fields)}` : "the section declares none";
  throw new PromptValidationError({
    field,
    value: `$${unknown}`,
    rule: "must only name fields of the section's params",
    remedy: near ? `did you mean "$${near}"?` : `${there}; write $$ for a dollar`,
  });
}

/** Puts values in the holes: text as it is, nothing for what is left out, JSON for the rest. */
export function fillTemplate({ parts }: TemplateText, params: object): string {
  const values = new Map<string, unknown>(Object.entries(params));
  const filled = parts.map((part) =>
    typeof part === "string" ? part : asText(values.get(part.name)),
  );
  return filled.join("").trim();
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return Array.isArray(value) || isPlainObject(value) ? JSON.stringify(value) : String(value);
}

/** Takes away the indentation that all lines share, as code around a template literal adds it. */
function dedent(text: string): string {
  const lines = text.split("\n").map((line) => (line.trim() === "" ? "" : line));
  const shared = commonPrefix(
    lines.filter((line) => line !== "").map((line) => /^[ \t]*/.exec(line)?.[0] ?? ""),
  );
  return lines.map((line) => line.slice(shared.length)).join("\n");
}

function commonPrefix(texts: readonly string[]): string {
  let prefix = texts[0] ?? "";
  for (const text of texts) {
    while (!text.startsWith(prefix)) prefix = prefix.slice(0, -1);
  }
  return prefix;
}

function strayDollar(text: string, index: number, field: string): PromptValidationError {
  const around = text.slice(Math.max(0, index - 12), index + 12);
  return new PromptValidationError({
    field,
    value: around,
    rule: "must have a name after each $",
    remedy: `write $$ for a dollar, near ${show(around)}`,
  });
}
