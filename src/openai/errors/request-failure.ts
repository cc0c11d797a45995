import type { HeaderLookup } from "./retry-after.ts";

/**
 * What went wrong: an answer that says so, no answer in time, a connection that failed, an answer
 * that cannot be read, or a client that threw something else.
 */
export type RequestFailure = "status" | "timeout" | "network" | "body" | "unknown";

/** What is known of a request that failed. */
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

/** Details, and how to tell them after naming the request: `"was answered with status 401"`. */
export interface DescribedFailure {
  readonly problem: string;
  readonly remedy: string | null;
  readonly details: RequestErrorDetails;
}

/** What is known about a request besides how it failed. */
export interface RequestContext {
  /** Its method and path: `"POST /responses"`. @default "The request" */
  readonly request?: string | undefined;
  /** What its errors may not say. */
  readonly secrets: readonly string[];
  /** Milliseconds since 1970: what a date to retry after is compared with. @default the machine's */
  readonly now?: (() => number) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long nothing may be heard, if it is known. */
  readonly timeoutMs?: number | undefined;
  /** What was already heard before it failed. */
  readonly answered?: { readonly status: number; readonly requestId: string | null } | undefined;
}

const LONGEST_TEXT = 2_000;

/** A text of the provider's as an error keeps it: its beginning. Scrub it first. */
export function beginning(text: string, most = LONGEST_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** A text of somebody else's as a message quotes it: on one line, cut, without its full stop. */
export function quoted(text: string): string {
  const line = text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return beginning(line, 500).replace(/\.$/, "");
}

/** What to ask oneself when a page comes in place of JSON. */
export const PROXY = "is there a proxy in between, or is baseURL wrong?";

/** The kind of content that an answer says it has, in small letters; `""` if it does not say. */
export function contentTypeIn(header: HeaderLookup): string {
  const [type = ""] = (header("content-type") ?? "").split(";");
  return quoted(type).toLowerCase();
}
