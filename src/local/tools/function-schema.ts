import type { WireItem } from "../../openai/wire.ts";

/** Returns the JSON Schema of an object whose every property is required. */
export function createObjectSchema(properties: Readonly<Record<string, object>>): WireItem {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Returns the JSON Schema of an object of texts, given what each of them is. */
export function createTextsSchema(descriptions: Readonly<Record<string, string>>): WireItem {
  const texts = Object.entries(descriptions).map(
    ([name, description]) => [name, { type: "string", description }] as const,
  );
  return createObjectSchema(Object.fromEntries(texts));
}

/** Whether a value is a text. */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Joins the texts among `parts`, a blank line between them; `otherwise` if there are none. */
export function joinTexts(parts: readonly unknown[], otherwise = ""): string {
  const text = parts.filter((part) => isText(part) && part !== "").join("\n\n");
  return text === "" ? otherwise : text;
}
