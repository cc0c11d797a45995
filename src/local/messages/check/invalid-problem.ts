import { ApiProblem } from "../../api-problem.ts";

/** Creates Anthropic's error for an invalid value: `400 messages.0.role: Field required`. */
export function createInvalidProblem(path: string, problem: string): ApiProblem {
  return new ApiProblem(400, path === "" ? problem : `${path}: ${problem}`);
}
