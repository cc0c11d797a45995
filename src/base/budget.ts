import { InvalidOptionError } from "./errors.ts";
import {
  type BudgetDimension,
  BudgetExceededError,
  type BudgetExcess,
} from "./evaluation-errors.ts";
import { addUsage, noUsage, type TokenUsage, usageOf } from "./usage.ts";

/** The limits of a `Budget`; at least one. */
export interface BudgetOptions {
  readonly maxInputTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly maxTotalTokens?: number | undefined;
}

/** How many tokens may be used; using exactly as many is within it. */
export class Budget {
  readonly maxInputTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly maxTotalTokens: number | null;

  constructor(options: BudgetOptions) {
    this.maxInputTokens = limitOf(options, "maxInputTokens");
    this.maxOutputTokens = limitOf(options, "maxOutputTokens");
    this.maxTotalTokens = limitOf(options, "maxTotalTokens");
    if (this.maxInputTokens ?? this.maxOutputTokens ?? this.maxTotalTokens) {
      Object.freeze(this);
      return;
    }
    throw new InvalidOptionError({
      field: "Budget",
      value: options,
      rule: "must limit something",
      remedy: "set maxInputTokens, maxOutputTokens or maxTotalTokens",
    });
  }
}

/** Adds up what is used against a budget; share one to hold several evaluations to it together. */
export class BudgetTracker {
  readonly budget: Budget;
  #total: TokenUsage = noUsage;

  constructor(budget: Budget) {
    if (!(budget instanceof Budget)) {
      throw new InvalidOptionError({
        field: "BudgetTracker(budget)",
        value: budget,
        rule: "must be a Budget",
        remedy: "new BudgetTracker(new Budget({ maxTotalTokens: 100_000 }))",
      });
    }
    this.budget = budget;
  }

  get total(): TokenUsage {
    return this.#total;
  }

  record(usage: Partial<TokenUsage>): void {
    for (const [name, tokens] of Object.entries(usage ?? { usage })) {
      if (Number.isSafeInteger(tokens) && tokens >= 0) continue;
      throw new InvalidOptionError({
        field: `BudgetTracker.record(usage).${name}`,
        value: tokens,
        rule: "must be a whole number of tokens",
        remedy: "record what the provider reported, or 0",
      });
    }
    this.#total = addUsage(this.#total, usageOf(usage));
  }

  /** What the budget was exceeded by, or `null`. */
  excess(): BudgetExcess | null {
    const { maxInputTokens, maxOutputTokens, maxTotalTokens } = this.budget;
    const { inputTokens, outputTokens, totalTokens } = this.#total;
    return (
      over("inputTokens", inputTokens, maxInputTokens) ??
      over("outputTokens", outputTokens, maxOutputTokens) ??
      over("totalTokens", totalTokens, maxTotalTokens)
    );
  }

  /** Throws `BudgetExceededError` if more was used than allowed. */
  check(): void {
    const excess = this.excess();
    if (excess) throw new BudgetExceededError(excess, { promptName: "" });
  }
}

function over(dimension: BudgetDimension, used: number, limit: number | null): BudgetExcess | null {
  return limit !== null && used > limit ? { dimension, used, limit } : null;
}

function limitOf(options: BudgetOptions, name: keyof BudgetOptions): number | null {
  const limit = options?.[name];
  if (limit === undefined) return null;
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new InvalidOptionError({
    field: `Budget.${name}`,
    value: limit,
    rule: "must be a positive whole number of tokens",
    remedy: "leave it out for no limit",
  });
}
