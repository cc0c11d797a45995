import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { isWebSearch, type ToolChoice } from "./check/tools.ts";
import { removeBridgePrefix } from "./tool-names.ts";

/** The tool through which the Claude Agent SDK receives structured answers. */
export const STRUCTURED_OUTPUT_TOOL = "StructuredOutput";

/** Converts tools to OpenAI's format. The original fields are kept too. */
export function toModelTools(tools: readonly WireItem[]): readonly WireItem[] {
  return tools.map((tool) => {
    const { type, name, input_schema: parameters } = tool;
    if (isWebSearch(tool)) return { ...tool, type: "web_search" };
    if (type !== undefined && type !== null && type !== "custom") return tool;
    return { ...tool, type: "function", name: removeBridgePrefix(String(name)), parameters };
  });
}

/** Converts a tool choice to OpenAI's format. */
export function toModelToolChoice({ type, name }: ToolChoice, tools: readonly WireItem[]): unknown {
  if (type === "any") return "required";
  if (type !== "tool") return type;
  const chosen = tools.find((tool) => tool["name"] === name);
  if (chosen && isWebSearch(chosen)) return { type: "web_search" };
  return { type: "function", name: removeBridgePrefix(String(name)) };
}

/** Returns the format of the answer: the request's own, or the schema of the structured output tool. */
export function toModelFormat(
  format: WireItem | null,
  tools: readonly WireItem[],
): WireItem | null {
  if (format) return format;
  const schema = tools.find(({ name }) => name === STRUCTURED_OUTPUT_TOOL)?.["input_schema"];
  if (!isPlainObject(schema)) return null;
  return { type: "json_schema", name: STRUCTURED_OUTPUT_TOOL, schema, strict: true };
}
