import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";

/**
 * Rejects tools that the API has but the local provider cannot run. `items` are the conversation's items that
 * may offer more tools.
 */
export function rejectUnsupportedTools(
  tools: readonly WireItem[],
  items: readonly WireItem[],
  catalog: ToolCatalog,
): void {
  const offered = [...tools, ...catalog.listAddedTools(items)];
  const unsupported = offered.find(({ type }) => catalog.byType.get(type)?.isRefused);
  if (!unsupported) return;
  const message = `Not supported by the local provider: the tool '${String(unsupported["type"])}'. Remove it from the request, or send the request to OpenAI.`;
  throw new ApiProblem(400, message, { param: "tools" });
}
