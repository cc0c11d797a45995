import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { builtInCatalog } from "../tools/index.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import type { ModelRequest } from "./local-model.ts";

/**
 * The meaning of a `tool_choice`: any tool or none, no tool, some tool, or one tool by type and (for functions)
 * name.
 */
export type Choice =
  | { readonly mode: "auto" | "none" | "required" }
  | { readonly mode: "one"; readonly type: string; readonly name: string | null };

/**
 * Returns the choice that applies to this answer. A call is forced only once: after a hosted call since the
 * client's last item, the model is free to report the result.
 */
export function resolveChoice(request: ModelRequest): Choice {
  const choice = parseChoice(request.toolChoice);
  const isForced = choice.mode === "required" || choice.mode === "one";
  return isForced && endsWithHosted(request.items, getCatalog(request)) ? { mode: "auto" } : choice;
}

/** Returns the tools that the choice allows: the `allowed_tools`, or all. */
export function selectAllowed(request: ModelRequest): readonly object[] {
  const { tools, toolChoice } = request;
  if (!isPlainObject(toolChoice) || toolChoice["type"] !== "allowed_tools") return tools;
  const { tools: listed } = toolChoice;
  const allowed = Array.isArray(listed) ? listed.filter(isPlainObject) : [];
  return tools.filter((tool) =>
    allowed.some((one) => isSameTool(one, { ...tool }, getCatalog(request))),
  );
}

/** Returns the hosted tools of the server. Requests created by hand have the built-in ones. */
export function getCatalog({ hostedTools }: ModelRequest): ToolCatalog {
  return hostedTools ?? builtInCatalog;
}

function parseChoice(toolChoice: unknown): Choice {
  if (toolChoice === "none" || toolChoice === "required") return { mode: toolChoice };
  if (!isPlainObject(toolChoice)) return { mode: "auto" };
  const { type, mode, name } = toolChoice;
  if (type === "allowed_tools") return { mode: mode === "required" ? "required" : "auto" };
  if (typeof type !== "string") return { mode: "auto" };
  return { mode: "one", type, name: typeof name === "string" ? name : null };
}

function isSameTool(one: WireItem, tool: WireItem, catalog: ToolCatalog): boolean {
  const isNamed = one["name"] !== undefined;
  const isOfType = catalog.findKind(one["type"]) === catalog.findKind(tool["type"]);
  return isOfType && (!isNamed || one["name"] === tool["name"]);
}

function endsWithHosted(items: readonly object[], catalog: ToolCatalog): boolean {
  for (const item of items.toReversed()) {
    const { type, role }: WireItem = { ...item };
    if (type === "reasoning" || (type === "message" && role === "assistant")) continue;
    return isHosted({ ...item }, items, catalog);
  }
  return false;
}

/** Returns whether the provider ran the call that an item is or belongs to. */
function isHosted(item: WireItem, items: readonly object[], catalog: ToolCatalog): boolean {
  const { type, call_id: id } = item;
  if (!catalog.byItem.get(type)?.tool.run) return false;
  const callType = catalog.calls.get(String(type));
  if (callType === undefined) return !catalog.needsAnswer(item);
  const calls = items.map((one): WireItem => ({ ...one }));
  return calls.some(
    (call) => call["type"] === callType && call["call_id"] === id && !catalog.needsAnswer(call),
  );
}
