import { isPlainObject } from "../../base/freeze.ts";
import type { ModelRequest } from "./local-model.ts";

/** What a `tool_choice` comes to: free, no tool, some tool, or one of a type and, for functions, a name. */
export type Choice =
  | { readonly mode: "auto" | "none" | "required" }
  | { readonly mode: "one"; readonly type: string; readonly name: string | null };

/**
 * How free the model is in this answer. What a choice forces is forced once: when a hosted call was
 * made since the client last spoke, the model may say what came of it.
 */
export function choiceOf({ toolChoice, items }: ModelRequest): Choice {
  const choice = namedChoice(toolChoice);
  const isForced = choice.mode === "required" || choice.mode === "one";
  return isForced && endsWithHosted(items) ? { mode: "auto" } : choice;
}

/** The tools that a choice leaves: those of `allowed_tools`, or all. */
export function allowedTools({ tools, toolChoice }: ModelRequest): readonly object[] {
  if (!isPlainObject(toolChoice) || toolChoice["type"] !== "allowed_tools") return tools;
  const { tools: listed } = toolChoice;
  const allowed = Array.isArray(listed) ? listed.filter(isPlainObject) : [];
  return tools.filter((tool) => allowed.some((one) => isSame(one, { ...tool })));
}

/** Whether a tool is of a type, by any of the names that OpenAI has for that. */
export function isOfType(type: unknown, wanted: string): boolean {
  return plainType(type) === plainType(wanted);
}

function namedChoice(toolChoice: unknown): Choice {
  if (toolChoice === "none" || toolChoice === "required") return { mode: toolChoice };
  if (!isPlainObject(toolChoice)) return { mode: "auto" };
  const { type, mode, name } = toolChoice;
  if (type === "allowed_tools") return { mode: mode === "required" ? "required" : "auto" };
  if (typeof type !== "string") return { mode: "auto" };
  return { mode: "one", type, name: typeof name === "string" ? name : null };
}

function isSame(
  one: Readonly<Record<string, unknown>>,
  tool: Readonly<Record<string, unknown>>,
): boolean {
  const isNamed = one["name"] !== undefined;
  return isOfType(one["type"], String(tool["type"])) && (!isNamed || one["name"] === tool["name"]);
}

/** `web_search_preview_2025_03_11` is a `web_search`. */
function plainType(type: unknown): unknown {
  return typeof type === "string" && type.startsWith("web_search") ? "web_search" : type;
}

function endsWithHosted(items: readonly object[]): boolean {
  const hosted = new Set(items.flatMap((item) => containerCallId({ ...item })));
  for (const item of items.toReversed()) {
    const { type, role, call_id: id }: Readonly<Record<string, unknown>> = { ...item };
    if (type === "reasoning" || (type === "message" && role === "assistant")) continue;
    if (type === "shell_call" || type === "shell_call_output") return hosted.has(id);
    return HOSTED.has(type);
  }
  return false;
}

const HOSTED: ReadonlySet<unknown> = new Set([
  "code_interpreter_call",
  "file_search_call",
  "web_search_call",
]);

/** Of commands that ran in a container, and not at the client. */
function containerCallId(item: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { type, call_id: id, environment } = item;
  const isHosted = isPlainObject(environment) && environment["type"] !== "local";
  return type === "shell_call" && isHosted ? [id] : [];
}
