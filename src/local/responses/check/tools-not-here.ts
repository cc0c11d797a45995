import { ApiProblem } from "../../api-problem.ts";
import type { CheckedRequest } from "./request.ts";

/** Refuses tools that the API knows and nothing here can run, as OpenAI says it of a model. */
export function refuseToolsNotHere({ tools, model }: CheckedRequest): void {
  const foreign = tools.find(({ type }) => NOT_HERE.has(String(type)));
  if (!foreign) return;
  const message = `Tool '${String(foreign["type"])}' is not supported with ${model}.`;
  throw new ApiProblem(400, message, { param: "tools" });
}

const NOT_HERE: ReadonlySet<string> = new Set(["image_generation", "mcp"]);
