import { messageOf, OutputParseError, WinkError } from "../../base/errors.ts";
import {
  PromptEvaluationError,
  ThrottleError,
  type ThrottleKind,
} from "../../base/evaluation-errors.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { maybeTextAt, numberAt, recordAt, recordsAt, textAt, textsAt } from "../../base/reading.ts";

/**
 * Converts a failed result to an error that says whether a retry may help. `attempt` is the last
 * structured answer that the model tried, if there was one.
 */
export function runFailure(
  result: UnknownRecord,
  failure: UnknownRecord | null,
  promptName: string,
  attempt: string | null = null,
): PromptEvaluationError {
  const words = readWords(result, failure);
  const requestId = failure ? maybeTextAt(failure, "request_id") : null;
  const details = { promptName, requestId, providerPayload: result };
  const kind = throttleKind(failure ?? {}, words);
  if (kind !== null)
    return new ThrottleError(`Claude could not answer: ${words}`, { ...details, kind });
  if (maybeTextAt(result, "subtype") === "error_max_structured_output_retries") {
    const message = `The answer did not fit its schema, however often it was asked for: ${words}`;
    const cause = new OutputParseError(message, attempt ?? "");
    const providerPayload = attempt ?? result;
    return new PromptEvaluationError(message, {
      ...details,
      phase: "parse",
      providerPayload,
      cause,
    });
  }
  const isStart = maybeTextAt(result, "startup_failure_reason") !== null || failure !== null;
  const message = `The Claude Agent SDK could not answer: ${words}`;
  return new PromptEvaluationError(message, {
    ...details,
    phase: isStart ? "request" : "response",
  });
}

/** Whether a retry of the SDK may succeed. If not, the SDK soon reports why. */
export function mayPass(retry: UnknownRecord): boolean {
  const status = numberAt(retry, "error_status");
  return status === null || throttleKind({ ...retry, api_error_status: status }, "") !== null;
}

/** Converts a retry of the first request, which the adapter makes instead of the SDK. */
export function retryFailure(retry: UnknownRecord, promptName: string): ThrottleError {
  const status = numberAt(retry, "error_status");
  const kind = throttleKind({ ...retry, api_error_status: status }, "") ?? "server";
  const said = status === null ? "the connection was lost" : `status ${status}`;
  const message = `Claude could not take the request now (${said})`;
  // Without a status the provider has not asked for a pause: the SDK has chosen the delay.
  const retryAfterMs = status === 429 ? numberAt(retry, "retry_delay_ms") : null;
  return new ThrottleError(message, { promptName, kind, retryAfterMs, providerPayload: retry });
}

/** What is known about a process whose run has thrown. */
export interface EndedProcess {
  readonly hasStarted: boolean;
  readonly stderrTail: string;
  withoutSecrets(error: unknown): unknown;
}

/** Converts what a run has thrown: it could not undo a call, did not start, or ended too early. */
export function explainEnd(
  error: unknown,
  ended: EndedProcess,
  promptName: string,
): PromptEvaluationError {
  if (error instanceof WinkError) return notUndone(error, promptName);
  const cause = ended.withoutSecrets(error);
  if (!ended.hasStarted) return unstartedRun(cause, promptName);
  return lostRun(cause, ended.stderrTail, promptName);
}

/** The SDK's process ended before it answered. */
export function lostRun(cause: unknown, stderr: string, promptName: string): PromptEvaluationError {
  const last = stderr.trim() === "" ? "" : `; it last wrote: ${stderr.trim()}`;
  const message = `The Claude Agent SDK ended before it answered (${messageOf(cause)})${last}: evaluate it again`;
  return new PromptEvaluationError(message, { promptName, phase: "response", cause });
}

/** The SDK's process did not start. */
function unstartedRun(cause: unknown, promptName: string): PromptEvaluationError {
  const said = messageOf(cause).replace(/\.$/, "");
  const remedy = "install @anthropic-ai/claude-agent-sdk with its optional dependencies";
  const message = `The Claude Agent SDK could not start (${said}): ${remedy}`;
  return new PromptEvaluationError(message, { promptName, phase: "request", cause });
}

/** A failed call of the SDK's own tools could not be rolled back. */
export function notUndone(cause: WinkError, promptName: string): PromptEvaluationError {
  const message = `A failed tool call could not be rolled back: ${cause.message}`;
  return new PromptEvaluationError(message, { promptName, phase: "tool", cause });
}

function readWords(result: UnknownRecord, failure: UnknownRecord | null): string {
  const said = failure ? recordsAt(recordAt(failure, "message"), "content") : [];
  const texts = said.map((block) => textAt(block, "text")).filter((text) => text !== "");
  const words = texts.join(" ") || textsAt(result, "errors").join("; ") || textAt(result, "result");
  return words || textAt(result, "subtype") || "it does not say why";
}

/** Returns `null` if the same request would fail again. */
function throttleKind(failure: UnknownRecord, words: string): ThrottleKind | null {
  const error = textAt(failure, "error");
  const status = numberAt(failure, "api_error_status");
  if (error === "billing_error" || status === 402) return "quota_exhausted";
  if (error === "rate_limit" || status === 429) return "rate_limit";
  if (status === 408) return "timeout";
  if (failure["api_error"] === "connection_failed")
    return /timed? ?out/i.test(words) ? "timeout" : "network";
  if (error === "overloaded" || error === "server_error")
    return status === null ? "network" : "server";
  return status !== null && status >= 500 ? "server" : null;
}
