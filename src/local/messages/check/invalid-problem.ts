import { ApiProblem } from "../../api-problem.ts";

/**
 * Creates Anthropic's error for an invalid value: `400 messages.0.role: Field required`. Some errors also have a
 * code in `error.details`, by which Anthropic's clients tell them apart.
 */
export function createInvalidProblem(
  path: string,
  problem: string,
  errorCode?: string,
): ApiProblem {
  const facts = errorCode === undefined ? undefined : { error_code: errorCode };
  return new ApiProblem(400, path === "" ? problem : `${path}: ${problem}`, { facts });
}

/** Creates the error for a value that Anthropic accepts and this server cannot honor. */
export function createUnsupportedProblem(path: string, remedy: string): ApiProblem {
  return createInvalidProblem(path, `Not supported by the local provider. ${remedy}`);
}
