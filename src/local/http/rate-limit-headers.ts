import type { RouteContext } from "./route-context.ts";

/** The rate limit headers of a response. The local provider has no rate limits. */
export const RATE_LIMIT_HEADERS: Readonly<Record<string, string>> = {
  "x-ratelimit-limit-requests": "1000000",
  "x-ratelimit-remaining-requests": "999999",
  "x-ratelimit-reset-requests": "1ms",
  "x-ratelimit-limit-tokens": "1000000",
  "x-ratelimit-remaining-tokens": "999999",
  "x-ratelimit-reset-tokens": "1ms",
};

/** Sets the rate limit headers. Like the real API, only routes that use a model have them. */
export function setRateLimitHeaders(context: RouteContext): void {
  for (const [name, value] of Object.entries(RATE_LIMIT_HEADERS)) context.setHeader(name, value);
}
