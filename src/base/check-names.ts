import { PromptValidationError } from "./errors.ts";

/** Returns `options` if it is an object. Plain JavaScript callers may omit it. */
export function checkOptions<Options>(options: Options, maker: string): Options {
  if (typeof options === "object" && options !== null) return options;
  throw new PromptValidationError({
    field: `${maker}(options)`,
    value: options,
    rule: "must be an object",
    remedy: `use new ${maker}({ … })`,
  });
}

/** Returns `name` if the providers accept it as the name of a function. */
export function checkToolName(name: string, field: string): string {
  if (typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  throw new PromptValidationError({
    field,
    value: name,
    rule: "must be 1-64 of A-Z, a-z, 0-9, _ and -",
    remedy: `write it like "${suggestName(name, (text) => text)}"`,
  });
}

/** Returns `name` if it is a valid name, kind or provider of a hosted tool: lower case only. */
export function checkHostedName(name: string, field: string): string {
  if (typeof name === "string" && /^[a-z0-9_-]{1,64}$/.test(name)) return name;
  throw new PromptValidationError({
    field,
    value: name,
    rule: "must be 1-64 of a-z, 0-9, _ and -",
    remedy: `write it like "${suggestName(name)}"`,
  });
}

/** Returns whether `text` may describe a tool or an example: any text, on one line or several. */
export function isDescription(text: unknown): text is string {
  return (
    typeof text === "string" &&
    text.trim() !== "" &&
    text.length <= 4096 && // in UTF-16 units, like the Claude Agent SDK, which truncates longer ones
    text.isWellFormed()
  );
}

/** The rule of {@link isDescription}, for error messages. */
export const descriptionRule = "must be text of 1-4,096 characters that is not blank";

/** Returns `text` if it is a valid description of a tool or an example. */
export function checkDescription(text: string, field: string): string {
  if (isDescription(text)) return text;
  const remedy = "say what it does and when to use it";
  throw new PromptValidationError({ field, value: text, rule: descriptionRule, remedy });
}

/** Returns `text` if it is a valid description of a hosted tool: one line of ASCII. */
export function checkHostedDescription(text: string, field: string): string {
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

/** Returns `key` if it is a valid key of a section, template or namespace. */
export function checkKey(key: string, field: string): string {
  if (typeof key === "string" && /^[a-z0-9][a-z0-9._-]{0,63}$/.test(key)) return key;
  throw new PromptValidationError({
    field,
    value: key,
    rule: "must be 1-64 of a-z, 0-9, ., _ and -, and start with a letter or digit",
    remedy: `write it like "${suggestName(key)}"`,
  });
}

/** Returns `text` if it is a single line that is not blank. */
export function checkLine(text: string, field: string): string {
  if (typeof text === "string" && text.trim() !== "" && !/[\r\n]/.test(text)) return text;
  const rule = "must be one line that is not blank";
  throw new PromptValidationError({ field, value: text, rule, remedy: "use a few words" });
}

function suggestName(
  name: unknown,
  toCase: (text: string) => string = (text) => text.toLowerCase(),
): string {
  if (typeof name !== "string") return "my_tool";
  const plain = toCase(name).replace(/[^A-Za-z0-9]+/g, "_");
  return plain.replace(/^_+|_+$/g, "").slice(0, 64) || "my_tool";
}
