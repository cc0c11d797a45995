import type { WireItem } from "../../../openai/wire.ts";
import { unknownTag } from "./content.ts";
import { at, flagIn, listIn, neededAt, neededText, oneOf, recordIn, textsIn } from "./fields.ts";
import { refusal } from "./refusal.ts";

/** How free the model is to use tools. */
export interface ToolChoice {
  readonly type: "auto" | "any" | "tool" | "none";
  /** Of the one tool that must be used. */
  readonly name: string | null;
  /** Whether it may use more than one at once. */
  readonly isParallel: boolean;
}

/** The tools of a request; no two of a name. */
export function checkTools(value: unknown): readonly WireItem[] {
  if (value === undefined || value === null) return [];
  const tools = listIn(value, "tools").map((tool, place) => checkTool(tool, at("tools", place)));
  const names = tools.map(({ name }) => name).filter((name) => name !== undefined);
  if (new Set(names).size < names.length) throw refusal("tools", "Tool names must be unique.");
  return tools;
}

/** Refuses a choice of what is not there, and one that thinking does not go with. */
export function checkToolChoice(
  value: unknown,
  { tools, isThinking }: { readonly tools: readonly WireItem[]; readonly isThinking: boolean },
): ToolChoice {
  if (value === undefined || value === null) return { type: "auto", name: null, isParallel: true };
  const path = "tool_choice";
  const choice = recordIn(value, path);
  const word = oneOf(neededAt(choice, "type", path), at(path, "type"), types);
  const type = types.find((one) => one === word) ?? "auto";
  if (tools.length === 0 && type !== "none")
    throw refusal(path, "tool_choice may only be specified while providing tools.");
  const isForced = type === "any" || type === "tool";
  if (isForced && isThinking)
    throw refusal(path, "Thinking may not be enabled when tool_choice forces tool use.");
  const name = type === "tool" ? neededText(choice, "name", path) : null;
  if (name !== null && !tools.some((tool) => tool["name"] === name))
    throw refusal(path, `Tool '${name}' not found in provided tools`);
  const key = "disable_parallel_tool_use";
  return { type, name, isParallel: !flagIn(choice[key], at(path, key)) };
}

const types = ["auto", "any", "tool", "none"] as const;

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

function checkTool(value: unknown, path: string): WireItem {
  const tool = recordIn(value, path);
  const { type } = tool;
  if (type === undefined || type === null || type === "custom") checkCustom(tool, path);
  else if (typeof type !== "string" || !KNOWN.test(type))
    throw unknownTag(String(type), path, KINDS);
  else if (type !== "mcp_toolset") {
    neededText(tool, "name", path, NAME);
    if (isWebSearch(tool)) checkDomains(tool, at(path, type));
  }
  return tool;
}

/** Whether a tool is the web search that the API runs itself. */
export function isWebSearch({ type }: WireItem): boolean {
  return typeof type === "string" && /^web_search_\d{8}$/.test(type);
}

const KINDS = ["custom", "web_search_20250305", "bash_20250124", "text_editor_20250728"];

/** Those that Anthropic has, of any date. */
const KNOWN =
  /^(?:mcp_toolset|(?:web_search|web_fetch|code_execution|bash|text_editor|computer|memory|tool_search_tool_(?:regex|bm25)|advisor)(?:_\d{8})?)$/;

function checkCustom(tool: WireItem, path: string): void {
  const place = at(path, "custom");
  neededText(tool, "name", place, NAME);
  const where = at(place, "input_schema");
  const schema = recordIn(neededAt(tool, "input_schema", place), where);
  oneOf(neededAt(schema, "type", where), at(where, "type"), ["object"]);
}

function checkDomains(tool: WireItem, path: string): void {
  const allowed = textsIn(tool["allowed_domains"], at(path, "allowed_domains"));
  const blocked = textsIn(tool["blocked_domains"], at(path, "blocked_domains"));
  if (allowed.length > 0 && blocked.length > 0)
    throw refusal(path, "Only one of allowed_domains and blocked_domains may be given.");
  const { user_location: location } = tool;
  if (location === undefined || location === null) return;
  const where = at(path, "user_location");
  oneOf(recordIn(location, where)["type"], at(where, "type"), ["approximate"]);
}
