import { WinkError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { scrubbed, scrubbedError, scrubbedText } from "../../base/scrubbed.ts";
import { describeAnswer, type FailedAnswer } from "./failed-answer.ts";
import type {
  DescribedFailure,
  RequestContext,
  RequestErrorDetails,
  RequestFailure,
} from "./request-failure.ts";
import type { HeaderLookup } from "./retry-after.ts";
import { describeThrown } from "./thrown-failure.ts";

/** A request to OpenAI, or to what speaks its wire, failed. No secret is in it. */
export class OpenAIRequestError extends WinkError {
  override readonly name = "OpenAIRequestError";
  readonly reason: RequestFailure;
  /** Of the answer; `null` if there was none. */
  readonly status: number | null;
  /** The provider's word for the error, such as `"rate_limit_exceeded"`. */
  readonly code: string | null;
  /** The part of the request that the provider objects to. */
  readonly param: string | null;
  /** The provider's kind of error, such as `"invalid_request_error"`. */
  readonly errorType: string | null;
  readonly requestId: string | null;
  /** How long the provider asks to wait, if it does. */
  readonly retryAfterMs: number | null;
  /** Whether another try may help, where the provider or the failure says so. */
  readonly shouldRetry: boolean | null;
  /** What the provider sent: JSON, or the beginning of a text; `null` if it sent nothing. */
  readonly body: unknown;

  constructor(message: string, details: RequestErrorDetails) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.reason = details.reason;
    this.status = details.status ?? null;
    this.code = details.code ?? null;
    this.param = details.param ?? null;
    this.errorType = details.errorType ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.shouldRetry = details.shouldRetry ?? null;
    this.body = details.body ?? null;
  }
}

/**
 * What a client threw, ours, the official one or any like it, as our own error. What is not about
 * the request is thrown on as it is: the signal's reason if that aborted, and our other errors.
 */
export function requestErrorFrom(thrown: unknown, context: RequestContext): OpenAIRequestError {
  context.signal?.throwIfAborted();
  if (thrown instanceof OpenAIRequestError) return withoutSecrets(thrown, context.secrets);
  if (thrown instanceof WinkError) throw thrown;
  return isStatusError(thrown)
    ? answerError(answerIn(thrown), context)
    : requestError(describeThrown(thrown, context), context);
}

/** The client knows its own secrets only, and a request may hold others. */
function withoutSecrets(error: OpenAIRequestError, secrets: readonly string[]): OpenAIRequestError {
  if (secrets.length === 0) return error;
  const { code, param, errorType, requestId, body } = error;
  const told = { code, param, errorType, requestId, body };
  const clean = scrubbed(told, secrets) as typeof told;
  const cause = scrubbedError(error.cause, secrets);
  const message = scrubbedText(error.message, secrets);
  return new OpenAIRequestError(message, { ...error, ...clean, cause });
}

/** What an answer with a status other than 2xx is for our caller. */
export function answerError(answer: FailedAnswer, context: RequestContext): OpenAIRequestError {
  return requestError(describeAnswer(answer, context), context);
}

/** An error in words, without the secrets. */
export function requestError(
  { problem, remedy, details }: DescribedFailure,
  { request = "The request", secrets }: RequestContext,
): OpenAIRequestError {
  const text = `${request} ${problem}${remedy === null ? "" : `: ${remedy}`}`;
  return new OpenAIRequestError(scrubbedText(text, secrets), details);
}

interface StatusError {
  readonly status: number;
  readonly message: string;
  readonly error?: unknown;
  readonly headers?: unknown;
}

/** The official client's `APIError`, told by its shape: there may be two copies of its package. */
function isStatusError(thrown: unknown): thrown is StatusError {
  return thrown instanceof Error && "status" in thrown && typeof thrown.status === "number";
}

/** It keeps the inside of `{ error }`; the text of what was no JSON stands after the status. */
function answerIn({ status, message, error, headers }: StatusError): FailedAnswer {
  const start = `${status} `;
  const text = message.startsWith(start) ? message.slice(start.length) : message;
  const body = text === "status code (no body)" ? null : text;
  return { status, header: lookup(headers), body: isPlainObject(error) ? { error } : body };
}

function lookup(headers: unknown): HeaderLookup {
  if (headers instanceof Headers) return (name) => headers.get(name);
  const record = isPlainObject(headers) ? headers : {};
  return (name) => {
    const value = record[name];
    return typeof value === "string" ? value : null;
  };
}
