import { systemClock } from "../../base/clock.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readStringOrNull } from "../../base/json.ts";
import { redact } from "../../base/redact.ts";
import { readRequestIdHeader } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import {
  type DescribedFailure,
  PROXY_REMEDY,
  type RequestContext,
  readContentType,
  toOneLine,
  truncate,
} from "./request-failure.ts";
import { type HeaderLookup, parseDelay, readRetryAfter } from "./retry-after.ts";

/** A response with a status other than 2xx. */
export interface FailedResponse {
  readonly status: number;
  readonly header: HeaderLookup;
  /** The parsed JSON, the text if it is not JSON, or `null`. */
  readonly body: unknown;
  /** Why the body is incomplete. */
  readonly cause?: unknown;
}

/** Describes a failed response: the provider's message, how long to wait, and the remedy. */
export function describeFailedResponse(
  answer: FailedResponse,
  context: RequestContext,
): DescribedFailure {
  const { status, header, cause } = answer;
  const clean = redact(answer.body, context.secrets);
  const body = typeof clean === "string" ? truncate(clean) || null : clean;
  const { message, ...error } = parseError(body);
  const requestId = readRequestIdHeader(header, context.secrets);
  const named = status === 429 ? parseDelay(message) : null;
  const isPage = readContentType(header) === "text/html";
  const id = requestId === null ? "" : ` (request ${toOneLine(requestId)})`;
  return {
    problem: `failed with status ${status}${isPage ? " and an HTML page" : formatMessage(message, body)}${id}`,
    remedy: isPage ? PROXY_REMEDY : findStatusRemedy(status, header, body),
    details: {
      reason: "status",
      status,
      ...error,
      requestId,
      retryAfterMs: readRetryAfter(header, context.now ?? systemClock.now) ?? named,
      shouldRetry: parseBoolean(header("x-should-retry")),
      body,
      cause,
    },
  };
}

/**
 * OpenAI sends `{ error: { message, type, param, code } }`; compatible servers use other shapes.
 */
function parseError(body: unknown) {
  const outer: WireItem = isPlainObject(body) ? body : {};
  const inner = isPlainObject(outer["error"]) ? outer["error"] : outer;
  const texts = [inner["message"], outer["error"], inner["detail"]];
  return {
    message: texts.find((text) => typeof text === "string") ?? "",
    code: parseErrorCode(inner),
    param: readStringOrNull(inner, "param"),
    errorType: readStringOrNull(inner, "type"),
  };
}

/** Some servers send a number: the status again. */
function parseErrorCode(error: WireItem): string | null {
  const { code } = error;
  return typeof code === "number" ? String(code) : readStringOrNull(error, "code");
}

function parseBoolean(text: string | null): boolean | null {
  const word = text?.trim().toLowerCase();
  return word === "true" || word === "false" ? word === "true" : null;
}

function formatMessage(message: string, body: unknown): string {
  const text = toOneLine(message === "" && typeof body === "string" ? body : message);
  return text === "" ? " and no message" : `: ${text}`;
}

function findStatusRemedy(status: number, header: HeaderLookup, body: unknown): string | null {
  if (status >= 300 && status < 400) return explainRedirect(header("location"));
  if (status === 401) return "Check OPENAI_API_KEY or clientConfig.apiKey.";
  if (status === 403) return "Check that the key's project and your region have access.";
  const error = isPlainObject(body) ? readRecord(body, "error") : {};
  if (status === 404 && readStringOrNull(error, "message") === null) {
    return "Check baseURL: it does not seem to be the API's address.";
  }
  return status === 413 ? "Send less: the request is too large." : null;
}

/** Names the redirect's target without its query, which may contain request data. */
function explainRedirect(location: string | null): string {
  const remedy = "Set baseURL to the API's address: redirects are not followed.";
  const url = location === null ? null : URL.parse(location);
  return url === null ? remedy : `It redirects to ${url.origin}${url.pathname}. ${remedy}`;
}
