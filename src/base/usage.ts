/** Tokens that one or more requests used. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Those of `inputTokens` that the provider had cached. */
  readonly cachedTokens: number;
  /** Those of `outputTokens` that were spent on reasoning. */
  readonly reasoningTokens: number;
  readonly totalTokens: number;
}

/** Nothing used yet. */
export const noUsage: TokenUsage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  totalTokens: 0,
});

export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  return Object.freeze({
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    totalTokens: one.totalTokens + other.totalTokens,
  });
}

/** Fills what is not said with 0; `totalTokens` is input and output unless said. */
export function usageOf(parts: Partial<TokenUsage>): TokenUsage {
  const { inputTokens = 0, outputTokens = 0, cachedTokens = 0, reasoningTokens = 0 } = parts;
  const { totalTokens = inputTokens + outputTokens } = parts;
  return Object.freeze({ inputTokens, outputTokens, cachedTokens, reasoningTokens, totalTokens });
}
