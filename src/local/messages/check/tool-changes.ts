import { readRecord, readRecords, readString, type UnknownRecord } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import type { ApiProblem } from "../../api-problem.ts";
import { joinPath } from "./anthropic-wording.ts";
import { createInvalidProblem, createUnsupportedProblem } from "./invalid-problem.ts";
import { checkTool } from "./tools.ts";

/** A block of a system message or of a compaction that adds or removes a tool. */
export interface ToolChange {
  readonly block: WireItem;
  readonly path: string;
}

/** Lists the tool changes in a request's system messages and compaction, in their order. */
export function listToolChanges(request: UnknownRecord): readonly ToolChange[] {
  return readRecords(request, "messages").flatMap((message, place) => {
    if (place > 0 && message["role"] !== "system") return [];
    const path = joinPath(joinPath("messages", place), "content");
    return readRecords(message, "content").flatMap((block, index) => {
      const at = joinPath(path, index);
      if (place > 0) return isToolChange(block) ? [{ block, path: at }] : [];
      // Only the first message can have a compaction, which repeats the changes before it.
      return readRecords(block, "tool_changes").map((change, number) => ({
        block: change,
        path: joinPath(joinPath(at, "tool_changes"), number),
      }));
    });
  });
}

/** Whether a block adds or removes a tool. */
export function isToolChange({ type }: WireItem): boolean {
  return type === "tool_addition" || type === "tool_removal";
}

/** Returns the tools that are offered after all changes. Throws for a reference to an unknown tool. */
export function applyToolChanges(
  tools: readonly WireItem[],
  changes: readonly ToolChange[],
): readonly WireItem[] {
  const offered = new Map<unknown, WireItem>(tools.map((tool) => [tool["name"], tool]));
  const known = new Map(offered);
  for (const { block, path } of changes) {
    const change = readRecord(block, "tool");
    const place = joinPath(path, "tool");
    if (change["type"] === "tool_definition" && block["type"] === "tool_addition") {
      const definition = checkTool(change["definition"], joinPath(place, "definition"));
      offered.set(definition["name"], definition);
      known.set(definition["name"], definition);
      continue;
    }
    const name = readReference(change, place);
    const tool = known.get(name);
    if (!tool) throw createUnresolvedProblem(name, place);
    if (block["type"] === "tool_removal") offered.delete(name);
    else offered.set(name, tool);
  }
  return [...offered.values()];
}

function readReference(change: WireItem, path: string): string {
  if (change["type"] === "tool_reference") return readString(change, "name");
  throw createUnsupportedProblem(path, "Use a tool_reference, or a tool_definition to add a tool.");
}

function createUnresolvedProblem(name: string, path: string): ApiProblem {
  const problem = `Tool '${name}' is not defined at this position of the conversation. Define it in \`tools\` or in a tool_addition.`;
  return createInvalidProblem(path, problem, "tool_reference_unresolved");
}
