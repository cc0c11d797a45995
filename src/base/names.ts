import { PromptValidationError } from "./errors.ts";

/** Returns `options` if there are any: a caller in plain JavaScript may have forgotten them. */
export function checkOptions<Options>(options: Options, maker: string): Options {
  if (typeof options === "object" && options !== null) return options;
  throw new PromptValidationError({
    field: `${maker}(options)`,
    value: options,
    rule: "must be an object",
    remedy: `write new ${maker}({ … })`,
  });
}

/** Returns `name` if a model may call a tool by it. */
export function checkToolName(name: string, field: string): string {
  if (typeof name === "string" && /^[a-z0-9_-]{1,64}$/.test(name)) return name;
  throw new PromptValidationError({
    field,
    value: name,
    rule: "must be 1-64 of a-z, 0-9, _ and -",
    remedy: `write it like "${toolNameLike(name)}"`,
  });
}

/** Returns `text` if it may describe a tool or an example. */
export function checkDescription(text: string, field: string): string {
  if (typeof text === "string" && /^[\x20-\x7e]{1,200}$/.test(text) && text.trim() !== "") {
    return text;
  }
  throw new PromptValidationError({
    field,
    value: text,
    rule: "must be 1-200 printable ASCII characters on one line",
    remedy: "say in one plain sentence what it does",
  });
}

/** Returns `key` if a section, template or namespace may be called so. */
export function checkKey(key: string, field: string): string {
  if (typeof key === "string" && /^[a-z0-9][a-z0-9._-]{0,63}$/.test(key)) return key;
  throw new PromptValidationError({
    field,
    value: key,
    rule: "must be 1-64 of a-z, 0-9, ., _ and -, and start with a letter or digit",
    remedy: `write it like "${toolNameLike(key)}"`,
  });
}

/** Returns `text` if it is one line that says something. */
export function checkLine(text: string, field: string): string {
  if (typeof text === "string" && text.trim() !== "" && !/[\r\n]/.test(text)) return text;
  const rule = "must be one line that is not blank";
  throw new PromptValidationError({ field, value: text, rule, remedy: "give it a few words" });
}

function toolNameLike(name: unknown): string {
  if (typeof name !== "string") return "my_tool";
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "_");
  return plain.replace(/^_+|_+$/g, "").slice(0, 64) || "my_tool";
}
