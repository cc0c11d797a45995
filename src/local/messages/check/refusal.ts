import { ApiProblem } from "../../api-problem.ts";

/** `400 messages.0.role: Field required`: how Anthropic says what is wrong, and where. */
export function refusal(path: string, problem: string): ApiProblem {
  return new ApiProblem(400, path === "" ? problem : `${path}: ${problem}`);
}

/** The model did what this request leaves no room for. To ask again would not help. */
export function modelFault(message: string): ApiProblem {
  const headers = { "x-should-retry": "false" };
  return new ApiProblem(500, message, { code: "model_error", headers });
}
