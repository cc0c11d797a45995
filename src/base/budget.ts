import { defaultPrices } from "./costs/default-prices.ts";
import { checkPriceTable, type PriceTable } from "./costs/price-table.ts";
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
  /**
   * Maximum cost in US dollars, as in `response.costUsd`. Checked after each turn, so one turn may exceed it.
   * An evaluation whose model has no price is refused before its first request. @default no limit
   */
  readonly maxUsd?: number | undefined;
  /** Prices from which costs are estimated if the provider does not report them. @default defaultPrices */
  readonly prices?: PriceTable | undefined;
}

const budgetKeys: KnownKeys<BudgetOptions> = {
  maxInputTokens: true,
  maxOutputTokens: true,
  maxTotalTokens: true,
  maxUsd: true,
  prices: true,
};

/**
 * Limits of tokens and money for one or more evaluations. Using exactly the limit is allowed.
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
  /** Maximum cost in US dollars, or `null` for no limit. */
  readonly maxUsd: number | null;
  /** Prices from which costs are estimated. */
  readonly prices: PriceTable;

  constructor(options: BudgetOptions) {
    checkKnownKeys(options ?? {}, "Budget", budgetKeys);
    this.maxInputTokens = checkLimit(options, "maxInputTokens");
    this.maxOutputTokens = checkLimit(options, "maxOutputTokens");
    this.maxTotalTokens = checkLimit(options, "maxTotalTokens");
    this.maxUsd = checkMaxUsd(options);
    const { prices = defaultPrices } = options ?? {};
    this.prices =
      prices === defaultPrices ? defaultPrices : checkPriceTable(prices, "Budget.prices");
    const { maxInputTokens, maxOutputTokens, maxTotalTokens, maxUsd } = this;
    if (maxInputTokens ?? maxOutputTokens ?? maxTotalTokens ?? maxUsd) {
      Object.freeze(this);
      return;
    }
    throw new InvalidOptionError({
      field: "Budget",
      value: options,
      rule: "must have at least one limit",
      remedy: "set maxInputTokens, maxOutputTokens, maxTotalTokens or maxUsd",
    });
  }
}

/**
 * Adds up usage and cost against a budget. Share one tracker to apply a budget to several evaluations
 * together.
 */
export class BudgetTracker {
  /** The budget that the usage is checked against. */
  readonly budget: Budget;
  #total: TokenUsage = noUsage;
  #totalUsd = 0;

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

  /** Cost recorded so far, in US dollars. */
  get totalUsd(): number {
    return this.#totalUsd;
  }

  /**
   * Adds the tokens and the cost of one request. The cost is 0 if it is omitted. Throws
   * `InvalidOptionError` and records nothing if a number is invalid.
   */
  record(usage: Partial<TokenUsage>, costUsd = 0): void {
    for (const [name, tokens] of Object.entries(usage ?? { usage })) {
      if (Number.isSafeInteger(tokens) && tokens >= 0) continue;
      throw new InvalidOptionError({
        field: `BudgetTracker.record(usage).${name}`,
        value: tokens,
        rule: "must be a non-negative integer",
        remedy: "pass the provider's token count, or 0",
      });
    }
    if (!Number.isFinite(costUsd) || costUsd < 0) {
      throw new InvalidOptionError({
        field: "BudgetTracker.record(costUsd)",
        value: costUsd,
        rule: "must be a number of US dollars, 0 or more",
        remedy: "pass the cost of the request, or omit it",
      });
    }
    this.#total = addUsage(this.#total, toUsage(usage));
    this.#totalUsd += costUsd;
  }

  /** Returns the first exceeded limit, or `null` while usage is within the budget. */
  excess(): BudgetExcess | null {
    const { maxInputTokens, maxOutputTokens, maxTotalTokens, maxUsd } = this.budget;
    const { inputTokens, outputTokens, totalTokens } = this.#total;
    return (
      findExcess("inputTokens", inputTokens, maxInputTokens) ??
      findExcess("outputTokens", outputTokens, maxOutputTokens) ??
      findExcess("totalTokens", totalTokens, maxTotalTokens) ??
      findExcess("usd", roundUsd(this.#totalUsd), maxUsd)
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

/** Removes the rounding errors of a sum, so that using exactly the limit is allowed. */
function roundUsd(usd: number): number {
  return Number(usd.toPrecision(12));
}

function checkMaxUsd(options: BudgetOptions): number | null {
  const maxUsd = options?.maxUsd;
  if (maxUsd === undefined) return null;
  if (Number.isFinite(maxUsd) && maxUsd > 0) return maxUsd;
  throw new InvalidOptionError({
    field: "Budget.maxUsd",
    value: maxUsd,
    rule: "must be a number of US dollars above 0",
    remedy: "omit it for no limit",
  });
}

function checkLimit(
  options: BudgetOptions,
  name: "maxInputTokens" | "maxOutputTokens" | "maxTotalTokens",
): number | null {
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
