import type { WireItem } from "../../openai/wire.ts";
import { tokensOf } from "../tokens.ts";
import type { ResponseUsage } from "./response-object.ts";

/** What a response has cost. */
export function usageOf(input: number, output: readonly WireItem[]): ResponseUsage {
  const outputTokens = tokensOf(output);
  const thoughts = output.filter(({ type }) => type === "reasoning");
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: thoughts.length > 0 ? tokensOf(thoughts) : 0 },
    total_tokens: input + outputTokens,
  };
}
