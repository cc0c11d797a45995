import { isPlainObject } from "../../../base/freeze.ts";
import { readRecord } from "../../../base/json.ts";
import { type TokenUsage, toUsage } from "../../../base/usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** Reads the `usage` of a chat completion. Returns `null` if the server reports none. */
export function readChatUsage(usage: unknown): TokenUsage | null {
  if (!isPlainObject(usage)) return null;
  const { prompt_tokens, completion_tokens, prompt_cache_hit_tokens } = usage;
  const details = readRecord(usage, "prompt_tokens_details");
  const spent = readRecord(usage, "completion_tokens_details");
  return createUsage({
    input: prompt_tokens,
    output: completion_tokens,
    cached: details["cached_tokens"] ?? prompt_cache_hit_tokens, // the latter is DeepSeek's name
    reasoning: spent["reasoning_tokens"],
  });
}

/** Reads the `usage` of a response of the Responses API. Returns `null` if the server reports none. */
export function readResponseUsage(usage: unknown): TokenUsage | null {
  if (!isPlainObject(usage)) return null;
  return createUsage({
    input: usage["input_tokens"],
    output: usage["output_tokens"],
    cached: readRecord(usage, "input_tokens_details")["cached_tokens"],
    reasoning: readRecord(usage, "output_tokens_details")["reasoning_tokens"],
  });
}

/** A request has at least one token, so servers that send zeros do not count. */
function createUsage({ input, output, cached, reasoning }: Json): TokenUsage | null {
  if (!isCount(input) || !isCount(output) || input === 0) return null;
  return toUsage({
    inputTokens: input,
    outputTokens: output,
    cachedTokens: isCount(cached) ? Math.min(cached, input) : 0,
    reasoningTokens: isCount(reasoning) ? Math.min(reasoning, output) : 0,
  });
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
