import { ApiProblem } from "../api-problem.ts";

/** Creates the error for a container with network access, which the local provider does not offer. */
export function createNetworkProblem(param: string): ApiProblem {
  const message = `Containers of the local provider have no network: '${param}' must be 'disabled'.`;
  return new ApiProblem(400, message, { param, code: "invalid_value" });
}

/** Creates the error for skills, which the local provider does not support. */
export function createSkillsProblem(param: string): ApiProblem {
  const message = `Unsupported parameter: '${param}' is not supported by the local provider.`;
  return new ApiProblem(400, message, { param, code: "unsupported_parameter" });
}
