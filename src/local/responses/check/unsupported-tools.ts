import { ApiProblem } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { CheckedRequest } from "./request.ts";

/** Rejects tools that the API has but the local provider cannot run, as OpenAI rejects tools that a model lacks. */
export function rejectUnsupportedTools(
  { tools, model }: CheckedRequest,
  { byType }: ToolCatalog,
): void {
  const unsupported = tools.find(({ type }) => byType.get(type)?.isRefused);
  if (!unsupported) return;
  const message = `Tool '${String(unsupported["type"])}' is not supported with ${model}.`;
  throw new ApiProblem(400, message, { param: "tools" });
}
