import { readString, readStrings } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { anyObject, array, boolean, oneOf, string } from "../../validators/validator.ts";
import { anthropicWording, joinPath } from "./anthropic-wording.ts";
import { createInvalidProblem } from "./invalid-problem.ts";
import { assertAnthropic, optional, readRecord, record, tag } from "./record.ts";

/** How the model may use tools. */
export interface ToolChoice {
  readonly type: "auto" | "any" | "tool" | "none";
  /** The name of the only tool that may be used, for `"tool"`. */
  readonly name: string | null;
  /** Whether the model may call several tools at once. */
  readonly isParallel: boolean;
}

/** Validates a request's tools. Their names must be unique. */
export function checkTools(value: unknown): readonly WireItem[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw anthropicWording.wrongKind("tools", ["array"], value);
  const tools = value.map((tool, place) => checkTool(tool, joinPath("tools", place)));
  const names = tools.map(({ name }) => name).filter((name) => name !== undefined);
  if (new Set(names).size < names.length)
    throw createInvalidProblem("tools", "Tool names must be unique.");
  return tools;
}

/** Validates the tool choice. Rejects a tool that the request does not offer, and a forced tool with thinking. */
export function checkToolChoice(
  value: unknown,
  { tools, isThinking }: { readonly tools: readonly WireItem[]; readonly isThinking: boolean },
): ToolChoice {
  if (value === undefined || value === null) return { type: "auto", name: null, isParallel: true };
  const path = "tool_choice";
  const choice = readRecord(record({ type: oneOf(...types) }), value, path);
  const type = types.find((one) => one === choice["type"]) ?? "auto";
  if (tools.length === 0 && type !== "none")
    throw createInvalidProblem(path, "tool_choice may only be specified while providing tools.");
  const isForced = type === "any" || type === "tool";
  if (isForced && isThinking)
    throw createInvalidProblem(
      path,
      "Thinking may not be enabled when tool_choice forces tool use.",
    );
  if (type === "tool") assertAnthropic(record({ name: string() }), choice, path);
  const name = type === "tool" ? readString(choice, "name") : null;
  if (name !== null && !tools.some((tool) => tool["name"] === name))
    throw createInvalidProblem(path, `Tool '${name}' not found in provided tools`);
  assertAnthropic(record({ disable_parallel_tool_use: optional(boolean) }), choice, path);
  return { type, name, isParallel: choice["disable_parallel_tool_use"] !== true };
}

const types = ["auto", "any", "tool", "none"] as const;

const name = string({ pattern: /^[a-zA-Z0-9_-]{1,128}$/ });
const named = record({ name });
const custom = record({ name, input_schema: record({ type: oneOf("object") }) });

function checkTool(value: unknown, path: string): WireItem {
  const tool = readRecord(anyObject, value, path);
  const { type } = tool;
  if (type === undefined || type === null || type === "custom")
    assertAnthropic(custom, tool, joinPath(path, "custom"));
  else if (typeof type !== "string" || !KNOWN.test(type))
    throw anthropicWording.unknownType(path, "type", String(type), KINDS);
  else if (type !== "mcp_toolset") {
    assertAnthropic(named, tool, path);
    if (isWebSearch(tool)) checkDomains(tool, joinPath(path, type));
  }
  return tool;
}

/** Returns whether a tool is the web search that the API runs itself. */
export function isWebSearch({ type }: WireItem): boolean {
  return typeof type === "string" && /^web_search_\d{8}$/.test(type);
}

const KINDS = ["custom", "web_search_20250305", "bash_20250124", "text_editor_20250728"];

/** The types of Anthropic's tools, with any date. */
const KNOWN =
  /^(?:mcp_toolset|(?:web_search|web_fetch|code_execution|bash|text_editor|computer|memory|tool_search_tool_(?:regex|bm25)|advisor)(?:_\d{8})?)$/;

const texts = optional(array(string()));

function checkDomains(tool: WireItem, path: string): void {
  assertAnthropic(record({ allowed_domains: texts, blocked_domains: texts }), tool, path);
  const isBoth =
    readStrings(tool, "allowed_domains").length > 0 &&
    readStrings(tool, "blocked_domains").length > 0;
  if (isBoth)
    throw createInvalidProblem(
      path,
      "Only one of allowed_domains and blocked_domains may be given.",
    );
  const location = record({ type: tag("approximate") });
  assertAnthropic(record({ user_location: optional(location) }), tool, path);
}
