import { numberAt, recordAt } from "../../base/reading.ts";
import { type TokenUsage, usageOf } from "../../base/usage.ts";
import type { WireItem } from "../wire.ts";

/** What a response says that it cost. */
export function usageIn(response: WireItem): TokenUsage {
  const usage = recordAt(response, "usage");
  const count = (record: WireItem, key: string) => Math.max(0, numberAt(record, key) ?? 0);
  const inputTokens = count(usage, "input_tokens");
  const outputTokens = count(usage, "output_tokens");
  return usageOf({
    inputTokens,
    outputTokens,
    cachedTokens: count(recordAt(usage, "input_tokens_details"), "cached_tokens"),
    reasoningTokens: count(recordAt(usage, "output_tokens_details"), "reasoning_tokens"),
    totalTokens: Math.max(0, numberAt(usage, "total_tokens") ?? inputTokens + outputTokens),
  });
}
