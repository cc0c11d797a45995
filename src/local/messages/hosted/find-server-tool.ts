import type { WireItem } from "../../../openai/wire.ts";
import { isCodeExecution, isWebFetch, isWebSearch } from "../check/tools.ts";
import { findShellName, hasEditor } from "../client-tools.ts";
import type { SdkToolAction } from "../sdk-tool-uses.ts";
import { toWebQuery } from "./web-search.ts";

/** Returns the tool with which the server performs an action itself, or `null` if the client does. */
export function findServerTool(action: SdkToolAction, tools: readonly WireItem[]): WireItem | null {
  if ("code" in action) return tools.find(isCodeExecution) ?? null;
  if ("shell" in action) return findShellName(tools) === null ? findCommandTool(tools) : null;
  if ("patch" in action) return hasEditor(tools) ? null : findCommandTool(tools);
  return tools.find(toWebQuery(action.search) === null ? isWebFetch : isWebSearch) ?? null;
}

/** The first version of the code execution tool runs only Python, the later ones also commands. */
function findCommandTool(tools: readonly WireItem[]): WireItem | null {
  return (
    tools.find((tool) => isCodeExecution(tool) && tool["type"] !== "code_execution_20250522") ??
    null
  );
}
