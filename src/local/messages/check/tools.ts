import { readString, readStrings } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { anyObject, array, boolean, oneOf, string } from "../../validators/validator.ts";
import { anthropicWording, joinPath } from "./anthropic-wording.ts";
import { createInvalidProblem, createUnsupportedProblem } from "./invalid-problem.ts";
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

/** Validates one tool. */
export function checkTool(value: unknown, path: string): WireItem {
  const tool = readRecord(anyObject, value, path);
  const { type } = tool;
  const isCustom = type === undefined || type === null || type === "custom";
  if (isCustom) checkCustomTool(tool, joinPath(path, "custom"));
  else checkKnownTool(tool, path);
  const { allowed_callers: callers } = tool;
  if (Array.isArray(callers) && !callers.includes("direct"))
    throw createUnsupportedProblem(
      joinPath(path, "allowed_callers"),
      'Add "direct": code cannot call tools here.',
    );
  return tool;
}

function checkCustomTool(tool: WireItem, path: string): void {
  assertAnthropic(custom, tool, path);
  const odd = Object.keys(tool).find((key) => !CUSTOM_FIELDS.has(key));
  if (odd !== undefined) throw anthropicWording.unknownField(joinPath(path, odd));
}

const CUSTOM_FIELDS: ReadonlySet<string> = new Set([
  "allowed_callers",
  "cache_control",
  "defer_loading",
  "description",
  "eager_input_streaming",
  "input_examples",
  "input_schema",
  "name",
  "strict",
  "type",
]);

function checkKnownTool(tool: WireItem, path: string): void {
  const { type } = tool;
  if (typeof type === "string" && UNSUPPORTED.test(type))
    throw createUnsupportedProblem(joinPath(path, type), "Remove the tool.");
  if (typeof type !== "string" || !KINDS.includes(type))
    throw anthropicWording.unknownType(path, "type", String(type), KINDS);
  assertAnthropic(named, tool, path);
  if (isWebSearch(tool) || isWebFetch(tool)) checkDomains(tool, joinPath(path, type));
}

/** Whether a tool is the web search that the API runs itself. */
export function isWebSearch({ type }: WireItem): boolean {
  return typeof type === "string" && type.startsWith("web_search_");
}

/** Whether a tool opens pages at the API. */
export function isWebFetch({ type }: WireItem): boolean {
  return typeof type === "string" && type.startsWith("web_fetch_");
}

/** Whether a tool runs code at the API. */
export function isCodeExecution({ type }: WireItem): boolean {
  return typeof type === "string" && type.startsWith("code_execution_");
}

/** Whether a tool searches for the request's deferred tools at the API. */
export function isToolSearch({ type }: WireItem): boolean {
  return typeof type === "string" && type.startsWith("tool_search_tool_");
}

/** Whether the API runs a tool, rather than the client. */
export function isServerTool(tool: WireItem): boolean {
  return isWebSearch(tool) || isWebFetch(tool) || isCodeExecution(tool) || isToolSearch(tool);
}

/** The types of tools that the server accepts. */
const KINDS: readonly string[] = [
  "custom",
  ...listVersions("bash", 20241022, 20250124),
  ...listVersions("code_execution", 20250522, 20250825, 20260120, 20260521),
  ...listVersions("computer", 20241022, 20250124, 20251124),
  ...listVersions("memory", 20250818),
  ...listVersions("text_editor", 20241022, 20250124, 20250429, 20250728),
  "tool_search_tool_bm25",
  ...listVersions("tool_search_tool_bm25", 20251119),
  "tool_search_tool_regex",
  ...listVersions("tool_search_tool_regex", 20251119),
  ...listVersions("web_fetch", 20250910, 20260209, 20260309, 20260318),
  ...listVersions("web_search", 20250305, 20260209, 20260318),
];

function listVersions(kind: string, ...dates: readonly number[]): readonly string[] {
  return dates.map((date) => `${kind}_${date}`);
}

/** Tools of Anthropic that need its servers, or a kind of client tool that has no name. */
const UNSUPPORTED = /^(?:mcp_toolset$|(?:advisor|browser_toolset|computer_toolset)_\d{8}$)/;

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
