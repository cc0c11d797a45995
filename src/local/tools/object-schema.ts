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

/** Returns the JSON Schema of an object of strings, from a description of each property. */
export function createStringsSchema(descriptions: Readonly<Record<string, string>>): WireItem {
  const texts = Object.entries(descriptions).map(
    ([name, description]) => [name, { type: "string", description }] as const,
  );
  return createObjectSchema(Object.fromEntries(texts));
}

/** Whether a value is a string. */
export function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** Joins the non-empty strings among `parts` with blank lines; returns `otherwise` if there are none. */
export function joinParagraphs(parts: readonly unknown[], otherwise = ""): string {
  const text = parts.filter((part) => isString(part) && part !== "").join("\n\n");
  return text === "" ? otherwise : text;
}
