import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";

/** The request's tool of one of these types; what a model does without it being offered is a fault. */
export function toolOf(
  tools: readonly WireItem[],
  types: readonly string[],
  did: string,
): WireItem {
  const tool = tools.find(({ type }) => types.includes(String(type)));
  if (tool) return tool;
  const wanted = types.join(" or ");
  const message = `The model ${did}, and the request offers no tool of type ${wanted}: offer one, or change what the model does.`;
  throw new ApiProblem(500, message, { code: "model_error" });
}
