import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "./errors.ts";
import {
  type BudgetDimension,
  BudgetExceededError,
  type BudgetExcess,
} from "./evaluation-errors.ts";
import { addUsage, noUsage, type TokenUsage, toUsage } from "./usage.ts";

/** Limits of a {@link Budget}. Set at least one. */
export interface BudgetOptions {
  /** Maximum number of input tokens. @default no limit */
  readonly maxInputTokens?: number | undefined;
  /** Maximum number of output tokens. @default no limit */
  readonly maxOutputTokens?: number | undefined;
  /** Maximum number of input and output tokens together. @default no limit */
  readonly maxTotalTokens?: number | undefined;
}

const budgetKeys: KnownKeys<BudgetOptions> = {
  maxInputTokens: true,
  maxOutputTokens: true,
  maxTotalTokens: true,
};

/**
 * Token limits for one or more evaluations. Using exactly the limit is allowed.
 *
 * @example
 * ```ts
 * import { Budget, BudgetTracker } from "weakincentives";
 *
 * const budget = new Budget({ maxTotalTokens: 100_000 });
 * const tracker = new BudgetTracker(budget); // pass it to several evaluations to share the budget
 * ```
 */
export class Budget {
  /** Maximum number of input tokens, or `null` for no limit. */
  readonly maxInputTokens: number | null;
  /** Maximum number of output tokens, or `null` for no limit. */
  readonly maxOutputTokens: number | null;
  /** Maximum number of tokens in total, or `null` for no limit. */
  readonly maxTotalTokens: number | null;

  constructor(options: BudgetOptions) {
    checkKnownKeys(options ?? {}, "Budget", budgetKeys);
    this.maxInputTokens = checkLimit(options, "maxInputTokens");
    this.maxOutputTokens = checkLimit(options, "maxOutputTokens");
    this.maxTotalTokens = checkLimit(options, "maxTotalTokens");
    if (this.maxInputTokens ?? this.maxOutputTokens ?? this.maxTotalTokens) {
      Object.freeze(this);
      return;
    }
    throw new InvalidOptionError({
      field: "Budget",
      value: options,
      rule: "must have at least one limit",
      remedy: "set maxInputTokens, maxOutputTokens or maxTotalTokens",
    });
  }
}

/**
 * Adds up usage against a budget. Share one tracker to apply a budget to several evaluations
 * together.
 */
export class BudgetTracker {
  /** The budget that the usage is checked against. */
  readonly budget: Budget;
  #total: TokenUsage = noUsage;

  constructor(budget: Budget) {
    if (!(budget instanceof Budget)) {
      throw new InvalidOptionError({
        field: "BudgetTracker(budget)",
        value: budget,
        rule: "must be a Budget",
        remedy: "pass new BudgetTracker(new Budget({ maxTotalTokens: 100_000 }))",
      });
    }
    this.budget = budget;
  }

  /** Tokens recorded so far. */
  get total(): TokenUsage {
    return this.#total;
  }

  /**
   * Adds the tokens of one request. Throws `InvalidOptionError` and records nothing if a count is
   * invalid.
   */
  record(usage: Partial<TokenUsage>): void {
    for (const [name, tokens] of Object.entries(usage ?? { usage })) {
      if (Number.isSafeInteger(tokens) && tokens >= 0) continue;
      throw new InvalidOptionError({
        field: `BudgetTracker.record(usage).${name}`,
        value: tokens,
        rule: "must be a non-negative integer",
        remedy: "pass the provider's token count, or 0",
      });
    }
    this.#total = addUsage(this.#total, toUsage(usage));
  }

  /** Returns the first exceeded limit, or `null` while usage is within the budget. */
  excess(): BudgetExcess | null {
    const { maxInputTokens, maxOutputTokens, maxTotalTokens } = this.budget;
    const { inputTokens, outputTokens, totalTokens } = this.#total;
    return (
      findExcess("inputTokens", inputTokens, maxInputTokens) ??
      findExcess("outputTokens", outputTokens, maxOutputTokens) ??
      findExcess("totalTokens", totalTokens, maxTotalTokens)
    );
  }

  /** Throws `BudgetExceededError` if usage exceeds the budget. */
  check(): void {
    const excess = this.excess();
    if (excess) throw new BudgetExceededError(excess, { promptName: "" });
  }
}

function findExcess(
  dimension: BudgetDimension,
  used: number,
  limit: number | null,
): BudgetExcess | null {
  return limit !== null && used > limit ? { dimension, used, limit } : null;
}

function checkLimit(options: BudgetOptions, name: keyof BudgetOptions): number | null {
  const limit = options?.[name];
  if (limit === undefined) return null;
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new InvalidOptionError({
    field: `Budget.${name}`,
    value: limit,
    rule: "must be a positive integer",
    remedy: "omit it for no limit",
  });
}
