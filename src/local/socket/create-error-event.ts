import type { WireItem } from "../../openai/wire.ts";
import type { ApiProblem } from "../api-problem.ts";

/**
 * Creates the event that reports a request that failed before its response began. Its `status` is the status that
 * the same request would get over HTTP.
 */
export function createErrorEvent(
  { status, type, code, message, param, headers }: ApiProblem,
  streamId: string | null = null,
): WireItem {
  const hasHeaders = Object.keys(headers).length > 0;
  return {
    type: "error",
    status,
    ...(streamId === null ? {} : { stream_id: streamId }),
    error: { type, code, message, param, ...(hasHeaders ? { headers } : {}) },
  };
}
