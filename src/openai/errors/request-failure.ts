import type { HeaderLookup } from "./retry-after.ts";

/**
 * Why a request failed: a response with an error status, no response in time, a failed connection,
 * an unreadable response, or another error thrown by the client.
 */
export type RequestFailure = "status" | "timeout" | "network" | "body" | "unknown";

/** Details of a failed request. */
export interface RequestErrorDetails {
  readonly reason: RequestFailure;
  readonly status?: number | null | undefined;
  readonly code?: string | null | undefined;
  readonly param?: string | null | undefined;
  readonly errorType?: string | null | undefined;
  readonly requestId?: string | null | undefined;
  readonly retryAfterMs?: number | null | undefined;
  readonly shouldRetry?: boolean | null | undefined;
  readonly body?: unknown;
  readonly cause?: unknown;
}

/**
 * A failure's details and wording. `problem` follows the request's name: `"failed with status 401"`.
 * `remedy` is a full sentence.
 */
export interface DescribedFailure {
  readonly problem: string;
  readonly remedy: string | null;
  readonly details: RequestErrorDetails;
}

/** A request's properties that its errors need. */
export interface RequestContext {
  /** Its method and path, such as `"POST /responses"`. @default "The request" */
  readonly request?: string | undefined;
  /** Secrets to redact from its errors. */
  readonly secrets: readonly string[];
  /**
   * Returns the current time in Unix milliseconds, to read `Retry-After` dates. @default the system
   * clock
   */
  readonly now?: (() => number) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The idle timeout, if known. */
  readonly timeoutMs?: number | undefined;
  /** The response's status and request id, if its headers arrived before the failure. */
  readonly response?: { readonly status: number; readonly requestId: string | null } | undefined;
}

const LONGEST_TEXT = 2_000;

/** Truncates a provider's text for an error. Redact secrets first. */
export function truncate(text: string, most = LONGEST_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Formats external text for a message: on one line, truncated, without its final period. */
export function toOneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return truncate(line, 500).replace(/\.$/, "");
}

/** The remedy when a response is an HTML page and not JSON. */
export const PROXY_REMEDY = "Check baseURL, and whether a proxy answered instead of the API.";

/** Reads a response's content type in lower case, without parameters; `""` if it is missing. */
export function readContentType(header: HeaderLookup): string {
  const [type = ""] = (header("content-type") ?? "").split(";");
  return toOneLine(type).toLowerCase();
}
