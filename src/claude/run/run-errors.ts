import { getErrorMessage, OutputParseError, WinkError } from "../../base/errors.ts";
import {
  PromptEvaluationError,
  ThrottleError,
  type ThrottleKind,
} from "../../base/evaluation-errors.ts";
import {
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
  readStrings,
  type UnknownRecord,
} from "../../base/json.ts";

/** How a run ended that has a failed result. */
export interface FailedRun {
  readonly promptName: string;
  /** The model's last attempt at a structured answer. @default none */
  readonly attempt?: string | null | undefined;
  /** Whether the SDK retried the request before it failed. @default true */
  readonly hasRetried?: boolean | undefined;
}

/** Converts a failed result to an error: a `ThrottleError` if a retry may help. */
export function toResultError(
  result: UnknownRecord,
  failure: UnknownRecord | null,
  { promptName, attempt = null, hasRetried = true }: FailedRun,
): PromptEvaluationError {
  const reason = readReason(result, failure);
  const requestId = failure ? readStringOrNull(failure, "request_id") : null;
  const details = { promptName, requestId, providerPayload: result };
  const kind = toThrottleKind(failure ?? {}, reason);
  // The SDK retries server errors, except those that the server marks with x-should-retry: false.
  const isFinal = kind === "server" && !hasRetried;
  if (kind !== null && !isFinal)
    return new ThrottleError(`Claude could not answer: ${reason}`, { ...details, kind });
  if (readStringOrNull(result, "subtype") === "error_max_structured_output_retries") {
    const message = `The answer did not match its schema after all retries: ${reason}`;
    const cause = new OutputParseError(message, attempt ?? "");
    const providerPayload = attempt ?? result;
    return new PromptEvaluationError(message, {
      ...details,
      phase: "parse",
      providerPayload,
      cause,
    });
  }
  const isRequestError =
    readStringOrNull(result, "startup_failure_reason") !== null || failure !== null;
  const message = `The Claude Agent SDK could not answer: ${reason}`;
  return new PromptEvaluationError(message, {
    ...details,
    phase: isRequestError ? "request" : "response",
  });
}

/** Whether the SDK's retry may succeed. Otherwise the SDK reports a failure soon. */
export function isRetryable(retry: UnknownRecord): boolean {
  const status = readNumber(retry, "error_status");
  return status === null || toThrottleKind({ ...retry, api_error_status: status }, "") !== null;
}

/** Returns the delay that the provider has set, in milliseconds; `null` if the SDK has chosen it. */
export function readRetryAfter(retry: UnknownRecord): number | null {
  return readNumber(retry, "error_status") === 429 ? readNumber(retry, "retry_delay_ms") : null;
}

/** Converts the SDK's report of a failed request, which the adapter retries instead, or later after a long wait. */
export function toRetryError(retry: UnknownRecord, promptName: string): ThrottleError {
  const status = readNumber(retry, "error_status");
  const kind = toThrottleKind({ ...retry, api_error_status: status }, "") ?? "server";
  const problem = status === null ? "the connection was lost" : `status ${status}`;
  const message = `Claude did not accept the request (${problem})`;
  const retryAfterMs = readRetryAfter(retry);
  return new ThrottleError(message, { promptName, kind, retryAfterMs, providerPayload: retry });
}

/** State of the SDK's process when its run has thrown. */
export interface EndedProcess {
  readonly hasStarted: boolean;
  readonly stderrTail: string;
  redact(error: unknown): unknown;
}

/** Converts an error of a run: a rollback failed, or the SDK did not start or ended too early. */
export function toRunError(
  error: unknown,
  ended: EndedProcess,
  promptName: string,
): PromptEvaluationError {
  if (error instanceof WinkError) return createRollbackError(error, promptName);
  const cause = ended.redact(error);
  if (!ended.hasStarted) return createStartError(cause, promptName);
  return createCrashError(cause, ended.stderrTail, promptName);
}

/** Creates the error for an SDK process that ended before the model answered. */
export function createCrashError(
  cause: unknown,
  stderr: string,
  promptName: string,
): PromptEvaluationError {
  const output = stderr.trim() === "" ? "" : ` Its last output: ${stderr.trim()}.`;
  const message = `The Claude Agent SDK ended before it answered (${getErrorMessage(cause)}).${output} Evaluate the prompt again.`;
  return new PromptEvaluationError(message, { promptName, phase: "response", cause });
}

/** Creates the error for an SDK process that did not start. */
function createStartError(cause: unknown, promptName: string): PromptEvaluationError {
  const reason = getErrorMessage(cause).replace(/\.$/, "");
  const message = `The Claude Agent SDK could not start (${reason}). Install @anthropic-ai/claude-agent-sdk with its optional dependencies.`;
  return new PromptEvaluationError(message, { promptName, phase: "request", cause });
}

/** Creates the error for a failed native call that could not be rolled back. */
export function createRollbackError(cause: WinkError, promptName: string): PromptEvaluationError {
  const message = `A failed tool call could not be rolled back: ${cause.message}`;
  return new PromptEvaluationError(message, { promptName, phase: "tool", cause });
}

function readReason(result: UnknownRecord, failure: UnknownRecord | null): string {
  const blocks = failure ? readRecords(readRecord(failure, "message"), "content") : [];
  const texts = blocks.map((block) => readString(block, "text")).filter((text) => text !== "");
  const reason =
    texts.join(" ") || readStrings(result, "errors").join("; ") || readString(result, "result");
  return reason || readString(result, "subtype") || "no reason reported";
}

/** Returns `null` if a retry would fail too. */
function toThrottleKind(failure: UnknownRecord, reason: string): ThrottleKind | null {
  const error = readString(failure, "error");
  const status = readNumber(failure, "api_error_status");
  if (error === "billing_error" || status === 402) return "quota_exhausted";
  if (error === "rate_limit" || status === 429) return "rate_limit";
  if (status === 408) return "timeout";
  if (failure["api_error"] === "connection_failed")
    return /timed? ?out/i.test(reason) ? "timeout" : "network";
  if (error === "overloaded" || error === "server_error")
    return status === null ? "network" : "server";
  return status !== null && status >= 500 ? "server" : null;
}
