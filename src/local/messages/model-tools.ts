import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { isWebSearch, type ToolChoice } from "./check/tools.ts";
import { ownName } from "./tool-names.ts";

/** By this tool the Claude Agent SDK takes an answer that must fit a schema. */
export const STRUCTURED = "StructuredOutput";

/** A request's tools as they are given, with what the other API calls the same things besides. */
export function modelTools(tools: readonly WireItem[]): readonly WireItem[] {
  return tools.map((tool) => {
    const { type, name, input_schema: parameters } = tool;
    if (isWebSearch(tool)) return { ...tool, type: "web_search" };
    if (type !== undefined && type !== null && type !== "custom") return tool;
    return { ...tool, type: "function", name: ownName(String(name)), parameters };
  });
}

/** A choice in the other API's words. */
export function modelToolChoice({ type, name }: ToolChoice, tools: readonly WireItem[]): unknown {
  if (type === "any") return "required";
  if (type !== "tool") return type;
  const chosen = tools.find((tool) => tool["name"] === name);
  if (chosen && isWebSearch(chosen)) return { type: "web_search" };
  return { type: "function", name: ownName(String(name)) };
}

/** What the answer must fit: the request's own schema, or that of the tool which takes the answer. */
export function modelFormat(format: WireItem | null, tools: readonly WireItem[]): WireItem | null {
  if (format) return format;
  const schema = tools.find(({ name }) => name === STRUCTURED)?.["input_schema"];
  if (!isPlainObject(schema)) return null;
  return { type: "json_schema", name: STRUCTURED, schema, strict: true };
}
