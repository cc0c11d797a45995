import { textAt, textsAt } from "../../../base/reading.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { anyObject, flag, list, oneOf, text } from "../../validators/shapes.ts";
import { anthropicWording, at } from "./anthropic-wording.ts";
import { check, checkRecord, optional, record, tag } from "./record.ts";
import { refusal } from "./refusal.ts";

/** How free the model is to use tools. */
export interface ToolChoice {
  readonly type: "auto" | "any" | "tool" | "none";
  /** Of the one tool that must be used. */
  readonly name: string | null;
  /** Whether it may use more than one at once. */
  readonly isParallel: boolean;
}

/** Returns the tools of a request, of which no two may have the same name. */
export function checkTools(value: unknown): readonly WireItem[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw anthropicWording.wrongKind("tools", ["array"], value);
  const tools = value.map((tool, place) => checkTool(tool, at("tools", place)));
  const names = tools.map(({ name }) => name).filter((name) => name !== undefined);
  if (new Set(names).size < names.length) throw refusal("tools", "Tool names must be unique.");
  return tools;
}

/** Refuses the choice of a tool that is not there, and one that thinking does not go with. */
export function checkToolChoice(
  value: unknown,
  { tools, isThinking }: { readonly tools: readonly WireItem[]; readonly isThinking: boolean },
): ToolChoice {
  if (value === undefined || value === null) return { type: "auto", name: null, isParallel: true };
  const path = "tool_choice";
  const choice = checkRecord(record({ type: oneOf(...types) }), value, path);
  const type = types.find((one) => one === choice["type"]) ?? "auto";
  if (tools.length === 0 && type !== "none")
    throw refusal(path, "tool_choice may only be specified while providing tools.");
  const isForced = type === "any" || type === "tool";
  if (isForced && isThinking)
    throw refusal(path, "Thinking may not be enabled when tool_choice forces tool use.");
  if (type === "tool") check(record({ name: text() }), choice, path);
  const name = type === "tool" ? textAt(choice, "name") : null;
  if (name !== null && !tools.some((tool) => tool["name"] === name))
    throw refusal(path, `Tool '${name}' not found in provided tools`);
  check(record({ disable_parallel_tool_use: optional(flag) }), choice, path);
  return { type, name, isParallel: choice["disable_parallel_tool_use"] !== true };
}

const types = ["auto", "any", "tool", "none"] as const;

const name = text({ pattern: /^[a-zA-Z0-9_-]{1,128}$/ });
const named = record({ name });
const custom = record({ name, input_schema: record({ type: oneOf("object") }) });

function checkTool(value: unknown, path: string): WireItem {
  const tool = checkRecord(anyObject, value, path);
  const { type } = tool;
  if (type === undefined || type === null || type === "custom")
    check(custom, tool, at(path, "custom"));
  else if (typeof type !== "string" || !KNOWN.test(type))
    throw anthropicWording.unknownType(path, "type", String(type), KINDS);
  else if (type !== "mcp_toolset") {
    check(named, tool, path);
    if (isWebSearch(tool)) checkDomains(tool, at(path, type));
  }
  return tool;
}

/** Whether a tool is the web search that the API runs itself. */
export function isWebSearch({ type }: WireItem): boolean {
  return typeof type === "string" && /^web_search_\d{8}$/.test(type);
}

const KINDS = ["custom", "web_search_20250305", "bash_20250124", "text_editor_20250728"];

/** The types of Anthropic's own tools, of any date. */
const KNOWN =
  /^(?:mcp_toolset|(?:web_search|web_fetch|code_execution|bash|text_editor|computer|memory|tool_search_tool_(?:regex|bm25)|advisor)(?:_\d{8})?)$/;

const texts = optional(list(text()));

function checkDomains(tool: WireItem, path: string): void {
  check(record({ allowed_domains: texts, blocked_domains: texts }), tool, path);
  const isBoth =
    textsAt(tool, "allowed_domains").length > 0 && textsAt(tool, "blocked_domains").length > 0;
  if (isBoth) throw refusal(path, "Only one of allowed_domains and blocked_domains may be given.");
  const location = record({ type: tag("approximate") });
  check(record({ user_location: optional(location) }), tool, path);
}
