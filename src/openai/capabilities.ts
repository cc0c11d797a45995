import { PromptValidationError } from "../base/errors.ts";
import { frozenCopy, isPlainObject } from "../base/freeze.ts";
import { checkToolName } from "../base/names.ts";
import { list } from "../base/show.ts";

/** The kinds of hosted tools that models can run, by how the models' names start. */
export type NativeToolsTable = Readonly<Record<string, Iterable<string>>>;

/** What is known of what models can run. */
export interface Capabilities {
  /** Why `model` cannot run tools of this kind; `null` if it can, or if nobody knows. */
  lacks(model: string, kind: string): string | null;
}

const everywhere = ["web_search", "file_search", "code_interpreter", "image_generation", "mcp"];
const known: ReadonlySet<string> = new Set([...everywhere, "shell", "apply_patch"]);

const defaults: Readonly<Record<string, readonly string[]>> = {
  "gpt-4o": everywhere,
  "gpt-4.1": everywhere,
  "gpt-4.1-nano": everywhere.filter((kind) => kind !== "web_search"),
  "gpt-5": [...known],
  o3: everywhere,
  "o4-mini": everywhere.filter((kind) => kind !== "image_generation"),
};

/**
 * The default table with the caller's rows over it: one for the same prefix stands in for ours.
 * Of the prefixes that fit a model, the longest counts.
 */
export function capabilities(
  given: NativeToolsTable = {},
  field = "OpenAIAdapter.nativeTools",
): Capabilities {
  const own = checkedTable(given, field);
  const rows = new Map(Object.entries({ ...defaults, ...own }));
  const prefixes = [...rows.keys()].sort((one, other) => other.length - one.length);
  return Object.freeze({
    lacks(model: string, kind: string) {
      const prefix = prefixes.find((start) => model.startsWith(start));
      const kinds = prefix === undefined ? undefined : rows.get(prefix);
      if (prefix === undefined || kinds === undefined || kinds.includes(kind)) return null;
      // Our rows speak of the kinds we know: what a codec of the caller's adds is theirs to judge.
      if (!Object.hasOwn(own, prefix) && !known.has(kind)) return null;
      const there = kinds.length > 0 ? `can run ${list(kinds)}` : "can run no hosted tools";
      const remedy = "use another model, or list all that it can run in the nativeTools option";
      return `the model "${model}" (listed as "${prefix}") ${there}, and not "${kind}": ${remedy}`;
    },
  });
}

/** A copy whose lists may be read again; refuses what is no such table. */
export function checkedTable(
  given: NativeToolsTable,
  field: string,
): Readonly<Record<string, readonly string[]>> {
  if (!isPlainObject(given)) {
    const rule = "must be a plain object";
    const remedy = 'write { "gpt-5": ["web_search"] }: how a model is called, and what it can run';
    throw new PromptValidationError({ field, value: given, rule, remedy });
  }
  const rows = Object.entries(given).map(([prefix, kinds]): [string, readonly string[]] => {
    if (prefix.trim() === "") {
      const rule = "must be how a model's name starts";
      const remedy = 'write one like "gpt-5"';
      throw new PromptValidationError({ field: `${field} key`, value: prefix, rule, remedy });
    }
    return [prefix, checkedKinds(kinds, `${field}[${JSON.stringify(prefix)}]`)];
  });
  return frozenCopy(Object.fromEntries(rows));
}

function checkedKinds(kinds: unknown, field: string): readonly string[] {
  if (isIterable(kinds)) {
    return [...kinds].map((kind, index) => checkToolName(kind, `${field}[${index}]`));
  }
  // A text is a list too, of its letters, and is never meant so.
  const remedy = typeof kinds === "string" ? `write [${JSON.stringify(kinds)}]` : "write [ … ]";
  const rule = "must be a list of kinds";
  throw new PromptValidationError({ field, value: kinds, rule, remedy });
}

/** What it gives is looked at one by one. */
function isIterable(value: unknown): value is Iterable<string> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}
