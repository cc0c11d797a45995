import type { ApiProblem } from "../api-problem.ts";

/** The error body of the Messages API. Its format differs from OpenAI's. */
export interface AnthropicProblem {
  readonly type: "error";
  readonly error: { readonly type: string; readonly message: string; readonly details?: object };
  readonly request_id: string;
}

/** Converts an error to Anthropic's format, where the status determines the type. */
export function toAnthropicProblem(
  { status, message, facts }: AnthropicProblemSource,
  requestId: string,
): AnthropicProblem {
  const details = facts ? { details: facts } : {};
  const error = { type: toErrorType(status), message, ...details };
  return { type: "error", error, request_id: requestId };
}

/** The parts of an error that Anthropic's format has. */
export type AnthropicProblemSource = Pick<ApiProblem, "status" | "message"> &
  Partial<Pick<ApiProblem, "facts">>;

/** Returns whether a path or URL belongs to Anthropic's API rather than OpenAI's. */
export function isAnthropicAddress(address: string): boolean {
  return ADDRESS.test(address);
}

const ADDRESS = /^(?:https?:\/\/[^/?#]*)?\/(?:v1\/messages|api\/hello)(?:[/?#]|$)/;

function toErrorType(status: number): string {
  return ERROR_TYPES.get(status) ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

const ERROR_TYPES: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);
