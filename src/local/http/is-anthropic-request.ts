import type { Context, Env, Next } from "hono";
import { isAnthropicAddress } from "../messages/anthropic-problem.ts";

/** The parts of a request that tell the APIs apart. Hono's requests have them. */
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

/** Creates a handler of a path that belongs to both APIs. Requests of other clients go to the next handler. */
export function forAnthropic<Path extends string>(
  handle: (context: Context<Env, Path>) => Response | Promise<Response>,
): (context: Context<Env, Path>, next: Next) => Promise<Response | undefined> {
  return async (context, next) => {
    if (isAnthropicRequest(context.req)) return await handle(context);
    await next();
    return undefined;
  };
}
