import { readRecord, readRecords } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";

/** Converts a validated entry of `tools` to the format of the Responses API. */
export function toTool(tool: WireItem): WireItem {
  const { type } = tool;
  if (type === "function") return { strict: false, ...readRecord(tool, "function"), type };
  const { format, ...custom } = readRecord(tool, "custom");
  return { ...custom, type, ...(format === undefined ? {} : { format: toGrammar(format) }) };
}

/** The definition of a grammar is one level deeper in chat completions. */
function toGrammar(format: unknown): WireItem {
  const { type, grammar }: WireItem = Object(format);
  return { type, ...Object(grammar) };
}

/** Converts a validated `tool_choice` to the format of the Responses API. */
export function toToolChoice(choice: unknown): unknown {
  if (typeof choice !== "object" || choice === null) return choice;
  const { type, ...rest }: WireItem = { ...choice };
  if (type !== "allowed_tools") return { type, ...readRecord(rest, String(type)) };
  const allowed = readRecord(rest, "allowed_tools");
  return { type, mode: allowed["mode"], tools: readRecords(allowed, "tools").map(toToolChoice) };
}

/** Converts a validated `response_format` to the format of the Responses API; `null` is plain text. */
export function toTextFormat(format: WireItem): WireItem | null {
  const { type } = format;
  if (type === "json_schema") return { type, schema: {}, ...readRecord(format, "json_schema") };
  return type === "json_object" ? { type } : null;
}
