import type { ApiProblem } from "../api-problem.ts";

/** What clients of the Messages API parse; OpenAI's errors look otherwise. */
export interface AnthropicProblem {
  readonly type: "error";
  readonly error: { readonly type: string; readonly message: string };
  readonly request_id: string;
}

/** A problem in Anthropic's shape: there the status alone says of which type it is. */
export function anthropicProblem(
  { status, message }: Pick<ApiProblem, "status" | "message">,
  requestId: string,
): AnthropicProblem {
  return { type: "error", error: { type: typeOf(status), message }, request_id: requestId };
}

/** Whether an address is of Anthropic's API and not of OpenAI's: a path, or a whole address. */
export function isAnthropicAddress(address: string): boolean {
  return ADDRESS.test(address);
}

const ADDRESS = /^(?:https?:\/\/[^/?#]*)?\/(?:v1\/messages|api\/hello)(?:[/?#]|$)/;

function typeOf(status: number): string {
  return types.get(status) ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

const types: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);
