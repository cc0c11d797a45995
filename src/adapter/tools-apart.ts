import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { list } from "../base/show.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";

/**
 * Refuses two tools of one kind: what comes back names no tool. `labelOf` gives what the provider
 * does tell two of them apart by, where it does.
 */
export function checkApart(
  tools: readonly HostedTool[],
  promptName: string,
  labelOf: (tool: HostedTool) => string | null | undefined = () => null,
): void {
  const first = new Map<string, HostedTool>();
  for (const tool of tools) {
    const key = JSON.stringify([tool.kind, labelOf(tool) ?? null]);
    const other = first.get(key);
    first.set(key, tool);
    if (!other) continue;
    const both = list([other.name, tool.name]);
    const message = `There are two hosted tools of kind "${tool.kind}", ${both}, and what comes back would not say whose it is: keep one`;
    throw new PromptEvaluationError(message, { promptName, phase: "render" });
  }
}
