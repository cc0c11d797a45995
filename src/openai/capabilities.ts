import { checkHostedName } from "../base/check-names.ts";
import { PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";

/** The hosted tool kinds that models can run, by a prefix of the model's name. */
export type NativeToolsTable = Readonly<Record<string, Iterable<string>>>;

/** Which hosted tools a model can run. */
export interface Capabilities {
  /**
   * Explains why `model` does not support this tool kind; `null` if it does or if that is unknown.
   */
  explainUnsupported(model: string, kind: string): string | null;
}

const commonKinds = ["web_search", "file_search", "code_interpreter", "image_generation", "mcp"];
const knownKinds: ReadonlySet<string> = new Set([...commonKinds, "shell", "apply_patch"]);

const defaultTable: Readonly<Record<string, readonly string[]>> = {
  "gpt-4o": commonKinds,
  "gpt-4.1": commonKinds,
  "gpt-4.1-nano": commonKinds.filter((kind) => kind !== "web_search"),
  "gpt-5": [...knownKinds],
  o3: commonKinds,
  "o4-mini": commonKinds.filter((kind) => kind !== "image_generation"),
};

/**
 * Combines the default table with the caller's rows. A row replaces the default row of the same
 * prefix. If several prefixes match a model, the longest one is used.
 */
export function createCapabilities(
  given: NativeToolsTable = {},
  field = "OpenAIAdapter.nativeTools",
): Capabilities {
  const customRows = checkNativeToolsTable(given, field);
  const rows = new Map(Object.entries({ ...defaultTable, ...customRows }));
  const prefixes = [...rows.keys()].sort((one, other) => other.length - one.length);
  return Object.freeze({
    explainUnsupported(model: string, kind: string) {
      const prefix = prefixes.find((start) => model.startsWith(start));
      const kinds = prefix === undefined ? undefined : rows.get(prefix);
      if (prefix === undefined || kinds === undefined || kinds.includes(kind)) return null;
      // The default rows cover only built-in kinds; a kind added by a custom codec is not checked.
      if (!Object.hasOwn(customRows, prefix) && !knownKinds.has(kind)) return null;
      const supported =
        kinds.length > 0 ? `supports ${quoteNames(kinds)}` : "supports no hosted tools";
      const remedy = "use another model, or list every kind it supports in the nativeTools option";
      return `the model "${model}" (listed as "${prefix}") ${supported}, not "${kind}": ${remedy}`;
    },
  });
}

/** Validates a table and returns a frozen copy with its iterables as arrays. */
export function checkNativeToolsTable(
  given: NativeToolsTable,
  field: string,
): Readonly<Record<string, readonly string[]>> {
  if (!isPlainObject(given)) {
    const rule = "must be a plain object";
    const remedy = 'use an object like { "gpt-5": ["web_search"] }: model prefix to tool kinds';
    throw new PromptValidationError({ field, value: given, rule, remedy });
  }
  const rows = Object.entries(given).map(([prefix, kinds]): [string, readonly string[]] => {
    if (prefix.trim() === "") {
      const rule = "must be a prefix of a model's name";
      const remedy = 'use a prefix like "gpt-5"';
      throw new PromptValidationError({ field: `${field} key`, value: prefix, rule, remedy });
    }
    return [prefix, checkKinds(kinds, `${field}[${JSON.stringify(prefix)}]`)];
  });
  return copyAndFreeze(Object.fromEntries(rows));
}

function checkKinds(kinds: unknown, field: string): readonly string[] {
  if (isIterable(kinds)) {
    return [...kinds].map((kind, index) => checkHostedName(kind, `${field}[${index}]`));
  }
  // Strings are iterable too, but iterating over their characters is never intended.
  const remedy = typeof kinds === "string" ? `use [${JSON.stringify(kinds)}]` : "pass an array";
  const rule = "must be an array of tool kinds";
  throw new PromptValidationError({ field, value: kinds, rule, remedy });
}

/** Whether a value is an iterable object. The caller validates its elements. */
function isIterable(value: unknown): value is Iterable<string> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}
