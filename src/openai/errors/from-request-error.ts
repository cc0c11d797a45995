import {
  PromptEvaluationError,
  ThrottleError,
  type ThrottleKind,
} from "../../base/evaluation-errors.ts";
import { readString, readStringOrNull } from "../../base/json.ts";
import { redact, redactText } from "../../base/redact.ts";
import type { WireItem } from "../wire.ts";
import type { OpenAIRequestError } from "./request-error.ts";
import { toOneLine } from "./request-failure.ts";
import { parseDelay } from "./retry-after.ts";

/** Converts a failed request to an evaluation error: a `ThrottleError` if a retry may help. */
export function fromRequestError(
  error: OpenAIRequestError,
  promptName: string,
): PromptEvaluationError {
  const { message, requestId, body: providerPayload, retryAfterMs } = error;
  const details = { promptName, requestId, providerPayload, cause: error };
  const kind = classifyThrottle(error);
  if (kind !== null) return new ThrottleError(message, { ...details, kind, retryAfterMs });
  const phase = error.reason === "body" ? "response" : "request";
  return new PromptEvaluationError(message, { ...details, phase });
}

/** Classifies an error that a retry may fix; `null` if the same request would fail again. */
function classifyThrottle(error: OpenAIRequestError): ThrottleKind | null {
  const { reason, status, code, errorType, shouldRetry } = error;
  const isQuota = code === QUOTA_CODE || errorType === QUOTA_CODE;
  if (status === 429 && isQuota) return "quota_exhausted";
  if (reason === "body" || shouldRetry === false) return null;
  if (reason === "timeout" || reason === "network") return reason;
  if (status === null) return null;
  if (status === 429) return "rate_limit";
  if (status === 408) return "timeout";
  return status === 409 || status >= 500 || shouldRetry === true ? "server" : null;
}

const QUOTA_CODE = "insufficient_quota";

/** Context for an error in a response with status 200. */
export interface ResponseErrorDetails {
  readonly promptName: string;
  readonly requestId: string | null;
  /** The whole response. @default the error object */
  readonly payload?: unknown;
  /** Secrets to redact from the message and the payload. @default none */
  readonly secrets?: readonly string[] | undefined;
}

/** Converts an error in a response with status 200 to an evaluation error. */
export function fromResponseError(
  error: WireItem,
  { promptName, requestId, payload = error, secrets = [] }: ResponseErrorDetails,
): PromptEvaluationError {
  const code = readStringOrNull(error, "code") ?? readStringOrNull(error, "type");
  const words = toOneLine(redactText(readString(error, "message"), secrets));
  const name = code === null ? "" : ` (${toOneLine(redactText(code, secrets))})`;
  const message = `The provider returned an error${words === "" ? "" : `: ${words}`}${name}`;
  const details = { promptName, requestId, providerPayload: redact(payload, secrets) };
  const kind = RETRYABLE_CODES.get(code ?? "");
  if (kind === undefined)
    return new PromptEvaluationError(message, { ...details, phase: "response" });
  const retryAfterMs = kind === "rate_limit" ? parseDelay(words) : null;
  return new ThrottleError(message, { ...details, kind, retryAfterMs });
}

const RETRYABLE_CODES: ReadonlyMap<string, ThrottleKind> = new Map([
  ["rate_limit_exceeded", "rate_limit"],
  [QUOTA_CODE, "quota_exhausted"],
  ["server_error", "server"],
  ["vector_store_timeout", "server"],
]);
