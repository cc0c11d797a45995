import { ApiProblem } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { CheckedRequest } from "./request.ts";

/** Refuses tools that the API knows and nothing here can run, as OpenAI refuses a tool that a model lacks. */
export function refuseUnsupportedTools(
  { tools, model }: CheckedRequest,
  { byType }: ToolCatalog,
): void {
  const unsupported = tools.find(({ type }) => byType.get(type)?.isRefused);
  if (!unsupported) return;
  const message = `Tool '${String(unsupported["type"])}' is not supported with ${model}.`;
  throw new ApiProblem(400, message, { param: "tools" });
}
