import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { runners } from "../tools/index.ts";
import { isCodeExecution, isWebSearch, type ToolChoice } from "./check/tools.ts";
import { findClientToolSchema } from "./client-tools.ts";
import { removeBridgePrefix } from "./tool-names.ts";

/** The tool through which the Claude Agent SDK receives structured answers. */
export const STRUCTURED_OUTPUT_TOOL = "StructuredOutput";

/** Converts tools to OpenAI's format. The original fields are kept too. */
export function toModelTools(tools: readonly WireItem[]): readonly WireItem[] {
  return tools.flatMap((tool) => {
    const { type, name, input_schema: schema } = tool;
    if (isWebSearch(tool)) return [{ ...tool, type: "web_search" }];
    if (isCodeExecution(tool)) return toCodeTools(tool);
    const parameters = findClientToolSchema(tool) ?? schema;
    if (parameters === undefined && type !== undefined && type !== "custom") return [tool];
    return [{ ...tool, type: "function", name: removeBridgePrefix(String(name)), parameters }];
  });
}

/** The first version of the code execution tool runs only Python, the later ones also commands. */
function toCodeTools(tool: WireItem): readonly WireItem[] {
  const python = { ...tool, type: runners.code.kind, container: { type: "auto" } };
  if (tool["type"] === "code_execution_20250522") return [python];
  return [python, { type: runners.shell.kind, environment: { type: "container_auto" } }];
}

/** Converts a tool choice to OpenAI's format. */
export function toModelToolChoice({ type, name }: ToolChoice, tools: readonly WireItem[]): unknown {
  if (type === "any") return "required";
  if (type !== "tool") return type;
  const chosen = tools.find((tool) => tool["name"] === name);
  if (chosen && isWebSearch(chosen)) return { type: "web_search" };
  if (chosen && isCodeExecution(chosen)) return { type: runners.code.kind };
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
