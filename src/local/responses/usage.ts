import type { TokenUsage } from "../../base/usage.ts";
import type { WireItem } from "../../openai/wire.ts";
import { countJsonTokens } from "../count-tokens.ts";
import type { ResponseUsage } from "./response-object.ts";

/** Converts the usage that a model reported to wire format. */
export function toResponseUsage(usage: TokenUsage): ResponseUsage {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.totalTokens,
  };
}

/** Estimates the token usage of a response whose model reports none. */
export function createUsage(input: number, output: readonly WireItem[]): ResponseUsage {
  const outputTokens = countJsonTokens(output);
  const reasoning = output.filter(({ type }) => type === "reasoning");
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: {
      reasoning_tokens: reasoning.length > 0 ? countJsonTokens(reasoning) : 0,
    },
    total_tokens: input + outputTokens,
  };
}
