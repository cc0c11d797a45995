import {
  PromptEvaluationError,
  ThrottleError,
  type ThrottleKind,
} from "../../base/evaluation-errors.ts";
import { maybeTextAt, textAt } from "../../base/reading.ts";
import { scrubbed, scrubbedText } from "../../base/scrubbed.ts";
import type { WireItem } from "../wire.ts";
import type { OpenAIRequestError } from "./request-error.ts";
import { quoted } from "./request-failure.ts";
import { waitNamedIn } from "./retry-after.ts";

/** What a failed request means to an evaluation: whether another try may help, and when. */
export function evaluationErrorOf(
  error: OpenAIRequestError,
  promptName: string,
): PromptEvaluationError {
  const { message, requestId, body: providerPayload, retryAfterMs } = error;
  const details = { promptName, requestId, providerPayload, cause: error };
  const kind = throttleKind(error);
  if (kind !== null) return new ThrottleError(message, { ...details, kind, retryAfterMs });
  const phase = error.reason === "body" ? "response" : "request";
  return new PromptEvaluationError(message, { ...details, phase });
}

/** `null`: the same request would fail again. */
function throttleKind(error: OpenAIRequestError): ThrottleKind | null {
  const { reason, status, code, errorType, shouldRetry } = error;
  const isQuota = code === QUOTA || errorType === QUOTA;
  if (status === 429 && isQuota) return "quota_exhausted";
  if (reason === "body" || shouldRetry === false) return null;
  if (reason === "timeout" || reason === "network") return reason;
  if (status === null) return null;
  if (status === 429) return "rate_limit";
  if (status === 408) return "timeout";
  return status === 409 || status >= 500 || shouldRetry === true ? "server" : null;
}

const QUOTA = "insufficient_quota";

/** What the provider said in an answer that came with status 200. */
export interface ResponseErrorDetails {
  readonly promptName: string;
  readonly requestId: string | null;
  /** The whole answer. @default the error alone */
  readonly payload?: unknown;
  /** What the message may not say. @default nothing */
  readonly secrets?: readonly string[] | undefined;
}

/** What an error within an answer means: a response that failed, although its request did not. */
export function responseErrorOf(
  error: WireItem,
  { promptName, requestId, payload = error, secrets = [] }: ResponseErrorDetails,
): PromptEvaluationError {
  const code = maybeTextAt(error, "code") ?? maybeTextAt(error, "type");
  const words = quoted(scrubbedText(textAt(error, "message"), secrets));
  const name = code === null ? "" : ` (${quoted(scrubbedText(code, secrets))})`;
  const message = `The provider could not answer${words === "" ? "" : `: ${words}`}${name}`;
  const details = { promptName, requestId, providerPayload: scrubbed(payload, secrets) };
  const kind = RETRIED.get(code ?? "");
  if (kind === undefined)
    return new PromptEvaluationError(message, { ...details, phase: "response" });
  const retryAfterMs = kind === "rate_limit" ? waitNamedIn(words) : null;
  return new ThrottleError(message, { ...details, kind, retryAfterMs });
}

const RETRIED: ReadonlyMap<string, ThrottleKind> = new Map([
  ["rate_limit_exceeded", "rate_limit"],
  [QUOTA, "quota_exhausted"],
  ["server_error", "server"],
  ["vector_store_timeout", "server"],
]);
