import { isAnthropicAddress } from "../messages/anthropic-problem.ts";

/** The parts of a request that tell the APIs apart. */
export interface AddressedRequest {
  readonly path: string;
  header(name: string): string | undefined;
}

/**
 * Whether a client of Anthropic sent a request. Some paths belong to both APIs, and Anthropic's clients add a
 * header to every request.
 */
export function isAnthropicRequest(request: AddressedRequest): boolean {
  return isAnthropicAddress(request.path) || request.header("anthropic-version") !== undefined;
}
