import { EvaluationParkedError } from "../adapter/approvals/evaluation-parked-error.ts";
import type { TurnCompleted } from "../adapter/events.ts";
import type { FinishReason } from "../adapter/model-client.ts";
import { PromptEvaluationError, ThrottleError } from "../base/evaluation-errors.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { Attributes } from "./load-open-telemetry.ts";

/** How an evaluation ended, as the value of `wink.evaluation.outcome`. */
export type EvaluationOutcome = "completed" | "failed" | "cancelled" | "parked" | "unfinished";

/** Returns the conventions' name of an adapter's provider. Other adapters keep their names. */
export function toProviderName(adapter: string): string {
  return adapter === "claude" ? "anthropic" : adapter;
}

/** Returns the attributes of a usage. Cached and reasoning tokens are omitted if there are none. */
export function toUsageAttributes(usage: TokenUsage): Attributes {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = usage;
  return {
    "gen_ai.usage.input_tokens": inputTokens,
    "gen_ai.usage.output_tokens": outputTokens,
    ...(cachedTokens > 0 && { "gen_ai.usage.cache_read.input_tokens": cachedTokens }),
    ...(reasoningTokens > 0 && { "gen_ai.usage.reasoning.output_tokens": reasoningTokens }),
  };
}

/** Returns the attributes of a response. */
export function toResponseAttributes({
  model,
  responseId,
  finishReason,
  usage,
}: TurnCompleted): Attributes {
  return {
    ...toUsageAttributes(usage),
    ...(model && { "gen_ai.response.model": model }),
    ...(responseId && { "gen_ai.response.id": responseId }),
    ...(finishReason && { "gen_ai.response.finish_reasons": [toFinishReason(finishReason)] }),
  };
}

/** Returns the conventions' name of a reason. */
export function toFinishReason(reason: FinishReason): string {
  return reason === "tool_calls" ? "tool_call" : reason;
}

/** Returns the conventions' type of a tool. `kind` is the kind of a hosted tool, `null` for a local one. */
export function toToolType(kind: string | null): string {
  if (kind === null) return "function";
  return kind === "file_search" ? "datastore" : "extension";
}

/** Returns how an evaluation that threw ended. A cancellation throws the reason of the caller's signal. */
export function toFailedOutcome(error: unknown): EvaluationOutcome {
  if (error instanceof EvaluationParkedError) return "parked";
  return error instanceof PromptEvaluationError ? "failed" : "cancelled";
}

/** Returns the attributes of an error: names and kinds, but not its message. */
export function toErrorAttributes(error: unknown): Attributes {
  return {
    "error.type": error instanceof Error ? error.name : "_OTHER",
    ...(error instanceof PromptEvaluationError && { "wink.error.phase": error.phase }),
    ...(error instanceof ThrottleError && { "wink.error.kind": error.kind }),
  };
}
