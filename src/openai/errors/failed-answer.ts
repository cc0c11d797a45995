import { systemClock } from "../../base/clock.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { maybeTextAt, recordAt } from "../../base/reading.ts";
import { scrubbed } from "../../base/scrubbed.ts";
import { requestIdIn } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import {
  beginning,
  contentTypeIn,
  type DescribedFailure,
  PROXY,
  quoted,
  type RequestContext,
} from "./request-failure.ts";
import { type HeaderLookup, retryAfterMs, waitNamedIn } from "./retry-after.ts";

/** An answer with a status other than 2xx. */
export interface FailedAnswer {
  readonly status: number;
  readonly header: HeaderLookup;
  /** Parsed, if it was JSON; else a text, or `null`. */
  readonly body: unknown;
  /** Why the body is not whole, if it is not. */
  readonly cause?: unknown;
}

/** What an answer that says no tells: the provider's words, how long to wait, and what to do. */
export function describeAnswer(answer: FailedAnswer, context: RequestContext): DescribedFailure {
  const { status, header, cause } = answer;
  const clean = scrubbed(answer.body, context.secrets);
  const body = typeof clean === "string" ? beginning(clean) || null : clean;
  const { message, ...error } = errorIn(body);
  const requestId = requestIdIn(header, context.secrets);
  const named = status === 429 ? waitNamedIn(message) : null;
  const isPage = contentTypeIn(header) === "text/html";
  const id = requestId === null ? "" : ` (request ${quoted(requestId)})`;
  return {
    problem: `was answered with status ${status}${isPage ? " and text/html" : said(message, body)}${id}`,
    remedy: isPage ? PROXY : remedyFor(status, header, body),
    details: {
      reason: "status",
      status,
      ...error,
      requestId,
      retryAfterMs: retryAfterMs(header, context.now ?? systemClock.now) ?? named,
      shouldRetry: booleanIn(header("x-should-retry")),
      body,
      cause,
    },
  };
}

/** OpenAI's form is `{ error: { message, type, param, code } }`; servers like it have others. */
function errorIn(body: unknown) {
  const outer: WireItem = isPlainObject(body) ? body : {};
  const inner = isPlainObject(outer["error"]) ? outer["error"] : outer;
  const texts = [inner["message"], outer["error"], inner["detail"]];
  return {
    message: texts.find((text) => typeof text === "string") ?? "",
    code: codeIn(inner),
    param: maybeTextAt(inner, "param"),
    errorType: maybeTextAt(inner, "type"),
  };
}

/** Some servers send the status once more, as a number. */
function codeIn(error: WireItem): string | null {
  const { code } = error;
  return typeof code === "number" ? String(code) : maybeTextAt(error, "code");
}

function booleanIn(text: string | null): boolean | null {
  const word = text?.trim().toLowerCase();
  return word === "true" || word === "false" ? word === "true" : null;
}

function said(message: string, body: unknown): string {
  const text = quoted(message === "" && typeof body === "string" ? body : message);
  return text === "" ? " and no message" : `: ${text}`;
}

function remedyFor(status: number, header: HeaderLookup, body: unknown): string | null {
  if (status >= 300 && status < 400) return redirection(header("location"));
  if (status === 401) return "check OPENAI_API_KEY or clientConfig.apiKey";
  if (status === 403) return "check that the key's project and your region may use this";
  const error = isPlainObject(body) ? recordAt(body, "error") : {};
  if (status === 404 && maybeTextAt(error, "message") === null) {
    return "check baseURL: there seems to be no such API";
  }
  return status === 413 ? "send less: the request is too large" : null;
}

/** Where to, without a query: that may hold what was sent. */
function redirection(location: string | null): string {
  const remedy = "set baseURL to where the API is, as redirects are not followed";
  const url = location === null ? null : URL.parse(location);
  return url === null ? remedy : `it redirects to ${url.origin}${url.pathname}: ${remedy}`;
}
