import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import {
  anything,
  byType,
  either,
  list,
  maybe,
  object,
  oneOf,
  text,
} from "../../validators/shapes.ts";
import { toolName } from "./tools.ts";

/** A `tool_choice` that was checked: a word, or one of its objects. */
export type ToolChoice = "none" | "auto" | "required" | WireItem;

/** What the model may call, and whether it has to. */
export interface Allowed {
  readonly mustCall: boolean;
  readonly tools: readonly WireItem[];
}

/** Refuses a `tool_choice` that OpenAI would: of another shape, or of a tool that is not there. */
export function checkToolChoice(choice: unknown, tools: readonly WireItem[]): ToolChoice {
  if (choice === undefined || choice === null) return "auto";
  const problem = shape(choice, "tool_choice");
  if (problem) throw problem;
  if (choice === "required" && tools.length === 0)
    throw refused("Tool choice 'required' must be specified with 'tools' parameter.");
  if (!isPlainObject(choice)) return choice === "required" || choice === "none" ? choice : "auto";
  const missing = choicesIn(choice).find((each) => chosenFrom(tools, each).length === 0);
  if (missing) throw refused(`Tool choice '${nameOf(missing)}' not found in 'tools' parameter.`);
  return choice;
}

/** What a choice leaves of the tools: of a namespace, only what was chosen within it. */
export function allowedBy(choice: ToolChoice, tools: readonly WireItem[]): Allowed {
  if (choice === "none") return { mustCall: false, tools: [] };
  if (choice === "auto" || choice === "required") return { mustCall: choice !== "auto", tools };
  const mustCall = choice["type"] !== "allowed_tools" || choice["mode"] === "required";
  const chosen = choicesIn(choice).flatMap((each) => chosenFrom(tools, each));
  return { mustCall, tools: [...new Set(chosen)] };
}

const type = anything; // it chose the shape
const bare = object({ type });
const named = object({ type, name: toolName });
const server = object({ type, server_label: text({ min: 1 }) }, { name: maybe(text()) });

const hosted = {
  file_search: bare,
  web_search: bare,
  web_search_2025_08_26: bare,
  web_search_preview: bare,
  web_search_preview_2025_03_11: bare,
  computer: bare,
  computer_use: bare,
  computer_use_preview: bare,
  code_interpreter: bare,
  image_generation: bare,
  apply_patch: bare,
  shell: bare,
  local_shell: bare,
  programmatic_tool_calling: bare,
};

const one = { function: named, custom: named, mcp: server, ...hosted };

const shape = either({
  string: oneOf("none", "auto", "required"),
  object: byType({
    ...one,
    allowed_tools: object({
      type,
      mode: oneOf("auto", "required"),
      tools: list(byType(one), { min: 1 }),
    }),
  }),
});

/** The tools that a choice names, one by one. */
function choicesIn(choice: WireItem): readonly WireItem[] {
  const tools = choice["type"] === "allowed_tools" ? choice["tools"] : [choice];
  return Array.isArray(tools) ? tools.filter(isPlainObject) : [];
}

function chosenFrom(tools: readonly WireItem[], choice: WireItem): readonly WireItem[] {
  return tools.flatMap((tool) => {
    if (isSame(tool, choice)) return [tool];
    const inner = tool["type"] === "namespace" ? tool["tools"] : [];
    const within = Array.isArray(inner) ? inner.filter((each) => isSame(each, choice)) : [];
    return within.length > 0 ? [{ ...tool, tools: within }] : [];
  });
}

function isSame(tool: WireItem, choice: WireItem): boolean {
  if (familyOf(tool["type"]) !== familyOf(choice["type"])) return false;
  const key = tool["type"] === "mcp" ? "server_label" : "name";
  return tool[key] === choice[key] || !(key in tool);
}

/** One tool may go by several types: a choice of any of them is a choice of it. */
function familyOf(name: unknown): string {
  return String(name).replace(/^(web_search|computer)_.*$/, "$1");
}

function nameOf(choice: WireItem): string {
  return String(choice["name"] ?? choice["server_label"] ?? choice["type"]);
}

function refused(message: string): ApiProblem {
  return new ApiProblem(400, message, { param: "tool_choice" });
}
