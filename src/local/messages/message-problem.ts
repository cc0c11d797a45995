import { ApiProblem } from "../api-problem.ts";
import type { ModelAction } from "../model-action.ts";

type Failure = Extract<ModelAction, { fail: unknown }>["fail"];

/** The error of a model's `failInStream` action. On a stream it is an error event, even before the first block. */
export class StreamProblem extends ApiProblem {}

/** Converts a model's `failInStream` action to Anthropic's error. */
export function toStreamProblem(failure: Failure): StreamProblem {
  const { status, message, code } = toMessageProblem(failure);
  return new StreamProblem(status, message, { code });
}

/** Converts a model's `fail` action to Anthropic's error. */
export function toMessageProblem({
  status,
  code,
  message = "The model failed.",
}: Failure): ApiProblem {
  // Anthropic reports this as a 400 that only the message distinguishes from other rejected requests.
  if (code !== undefined && NO_CREDIT.has(code)) return new ApiProblem(400, CREDIT_IS_LOW);
  const known = status ?? (code === "rate_limit_exceeded" ? 429 : 500);
  return new ApiProblem(known, message, { code: code ?? null });
}

const NO_CREDIT: ReadonlySet<string> = new Set(["insufficient_quota", "billing_error"]);

const CREDIT_IS_LOW =
  "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.";
