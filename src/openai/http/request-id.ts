import type { WireItem } from "../wire.ts";

/** An answer's object, and the id that it came with. */
export interface Posted {
  readonly value: WireItem;
  readonly requestId: string | null;
}

/** The id that an answer came with: ours and the official client's results carry it unseen. */
export function requestIdOf(result: unknown): string | null {
  const isObject = typeof result === "object" && result !== null;
  if (!isObject || !("_request_id" in result)) return null;
  return typeof result._request_id === "string" ? result._request_id : null;
}

/** What is enumerated stays the same. */
export function withRequestId({ value, requestId }: Posted): WireItem {
  if (Object.hasOwn(value, "_request_id")) return value;
  return Object.defineProperty(value, "_request_id", { value: requestId });
}
