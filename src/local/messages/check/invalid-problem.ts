import { ApiProblem } from "../../api-problem.ts";

/** Creates Anthropic's error for an invalid value: `400 messages.0.role: Field required`. */
export function createInvalidProblem(path: string, problem: string): ApiProblem {
  return new ApiProblem(400, path === "" ? problem : `${path}: ${problem}`);
}

/** Creates the error for a model action that the request does not allow. Clients must not retry it. */
export function createModelFault(message: string): ApiProblem {
  const headers = { "x-should-retry": "false" };
  return new ApiProblem(500, message, { code: "model_error", headers });
}
