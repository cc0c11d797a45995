import { readRecord, readRecords } from "../../../base/json.ts";
import { createStringsSchema } from "../../tools/object-schema.ts";
import type { ChatFunction } from "./chat-function.ts";

/**
 * Converts a tool of the client to functions: a function, a custom tool, or all tools in a namespace. Other tools
 * have none.
 */
export function toClientFunctions(tool: object): readonly ChatFunction[] {
  const entry: Readonly<Record<string, unknown>> = { ...tool };
  const { type, name, description, parameters, strict } = entry;
  if (type === "namespace") return readRecords(entry, "tools").flatMap(toClientFunctions);
  const isCustom = type === "custom";
  if ((type !== "function" && !isCustom) || typeof name !== "string") return [];
  const text = typeof description === "string" ? description : "";
  const parts = isCustom ? [text, describeFormat(readRecord(entry, "format"))] : [text];
  return [
    {
      name,
      description: parts.filter((part) => part !== "").join("\n\n") || null,
      parameters: isCustom ? CUSTOM_INPUT : (parameters ?? { type: "object", properties: {} }),
      strict: strict === true,
      isCustom,
      hosted: null,
    },
  ];
}

const CUSTOM_INPUT = createStringsSchema({ input: "The input of the tool, as plain text." });

/** Describes the grammar of a custom tool's input. Servers of other models cannot enforce it. */
function describeFormat({ type, syntax, definition }: Readonly<Record<string, unknown>>): string {
  if (type !== "grammar") return "";
  return `The input must match this grammar (${syntax}):\n${definition}`;
}
