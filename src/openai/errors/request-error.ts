import { WinkError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { redact, redactError, redactText } from "../../base/redact.ts";
import { describeThrownError } from "./describe-thrown-error.ts";
import { describeFailedResponse, type FailedResponse } from "./failed-response.ts";
import type {
  DescribedFailure,
  RequestContext,
  RequestErrorDetails,
  RequestFailure,
} from "./request-failure.ts";
import type { HeaderLookup } from "./retry-after.ts";

/** A request to OpenAI or a compatible server failed. Contains no secrets. */
export class OpenAIRequestError extends WinkError {
  override readonly name = "OpenAIRequestError";
  /** The kind of failure. */
  readonly reason: RequestFailure;
  /** The response's HTTP status; `null` without a response. */
  readonly status: number | null;
  /** The provider's error code, such as `"rate_limit_exceeded"`. */
  readonly code: string | null;
  /** The request parameter that the provider rejected. */
  readonly param: string | null;
  /** The provider's error type, such as `"invalid_request_error"`. */
  readonly errorType: string | null;
  /** The id that the provider gave the request, from the `x-request-id` header. */
  readonly requestId: string | null;
  /** The provider's requested delay before a retry; `null` if it sent none. */
  readonly retryAfterMs: number | null;
  /** Whether a retry may help; `null` if unknown. */
  readonly shouldRetry: boolean | null;
  /** The response body: parsed JSON, or the beginning of a text; `null` if there was none. */
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
 * Converts an error thrown by any client to an `OpenAIRequestError`. Rethrows errors that do not
 * concern the request: the signal's reason if it aborted, and this package's other errors.
 */
export function toRequestError(thrown: unknown, context: RequestContext): OpenAIRequestError {
  context.signal?.throwIfAborted();
  if (thrown instanceof OpenAIRequestError) return redactSecrets(thrown, context.secrets);
  if (thrown instanceof WinkError) throw thrown;
  return isStatusError(thrown)
    ? createStatusError(toFailedResponse(thrown), context)
    : createRequestError(describeThrownError(thrown, context), context);
}

/** Redacts the request's secrets; the client has redacted only its own. */
function redactSecrets(error: OpenAIRequestError, secrets: readonly string[]): OpenAIRequestError {
  if (secrets.length === 0) return error;
  const { code, param, errorType, requestId, body } = error;
  const fields = { code, param, errorType, requestId, body };
  const clean = redact(fields, secrets) as typeof fields;
  const cause = redactError(error.cause, secrets);
  const message = redactText(error.message, secrets);
  return new OpenAIRequestError(message, { ...error, ...clean, cause });
}

/** Creates the error for a response with a status other than 2xx. */
export function createStatusError(
  answer: FailedResponse,
  context: RequestContext,
): OpenAIRequestError {
  return createRequestError(describeFailedResponse(answer, context), context);
}

/** Creates an error from a described failure, without secrets. */
export function createRequestError(
  { problem, remedy, details }: DescribedFailure,
  { request = "The request", secrets }: RequestContext,
): OpenAIRequestError {
  const text = `${request} ${problem}${remedy === null ? "" : `. ${remedy}`}`;
  return new OpenAIRequestError(redactText(text, secrets), details);
}

interface StatusError {
  readonly status: number;
  readonly message: string;
  readonly error?: unknown;
  readonly headers?: unknown;
}

/**
 * Whether an error is the official client's `APIError`. Checks its shape, not its class, because
 * several copies of the package may be installed.
 */
function isStatusError(thrown: unknown): thrown is StatusError {
  return thrown instanceof Error && "status" in thrown && typeof thrown.status === "number";
}

/**
 * `APIError.error` is the body's `error` object; a body that is not JSON follows the status in the
 * message.
 */
function toFailedResponse({ status, message, error, headers }: StatusError): FailedResponse {
  const start = `${status} `;
  const text = message.startsWith(start) ? message.slice(start.length) : message;
  const body = text === "status code (no body)" ? null : text;
  return {
    status,
    header: createHeaderLookup(headers),
    body: isPlainObject(error) ? { error } : body,
  };
}

function createHeaderLookup(headers: unknown): HeaderLookup {
  if (headers instanceof Headers) return (name) => headers.get(name);
  const record = isPlainObject(headers) ? headers : {};
  return (name) => {
    const value = record[name];
    return typeof value === "string" ? value : null;
  };
}
