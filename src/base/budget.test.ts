import { describe, expect, test } from "vitest";
import { Budget, BudgetTracker } from "./budget.ts";
import { defaultPrices } from "./costs/default-prices.ts";
import { InvalidOptionError } from "./errors.ts";
import { BudgetExceededError, PromptEvaluationError } from "./evaluation-errors.ts";
import { noUsage } from "./usage.ts";

describe("Budget", () => {
  test("sets only the given limits", () => {
    expect(new Budget({ maxOutputTokens: 5 })).toEqual({
      maxInputTokens: null,
      maxOutputTokens: 5,
      maxTotalTokens: null,
      maxUsd: null,
      prices: defaultPrices,
    });
  });

  test("is frozen", () => {
    expect(new Budget({ maxTotalTokens: 1 })).toSatisfy(Object.isFrozen);
  });

  test.each([[{}], [{ maxInputTokens: undefined }], [undefined as never], [null as never]])(
    "rejects options without a limit: %j",
    (options) => {
      expect(() => new Budget(options)).toThrow(InvalidOptionError);
      expect(() => new Budget(options)).toThrow(
        /^Budget must have at least one limit, got .*\. Set maxInputTokens, maxOutputTokens, maxTotalTokens or maxUsd\.$/,
      );
    },
  );

  const limits = ["maxInputTokens", "maxOutputTokens", "maxTotalTokens"] as const;
  const wrong = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "5", null, 5n];

  test.each(limits.flatMap((name) => wrong.map((value) => [name, value] as const)))(
    "rejects %s of %s",
    (name, value) => {
      expect(() => new Budget({ [name]: value as never })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: `Budget.${name}`,
          value,
          message: expect.stringMatching(
            /must be a positive integer, got .*\. Omit it for no limit\.$/,
          ),
        }),
      );
    },
  );
});

describe("Budget.maxUsd", () => {
  test("is a limit on its own", () => {
    expect(new Budget({ maxUsd: 0.25 })).toMatchObject({ maxUsd: 0.25, maxTotalTokens: null });
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5", null, 5n])(
    "rejects %s",
    (maxUsd) => {
      expect(() => new Budget({ maxUsd: maxUsd as never })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: "Budget.maxUsd",
          message: expect.stringMatching(
            /must be a number of US dollars above 0, got .*\. Omit it for no limit\.$/,
          ),
        }),
      );
    },
  );

  test("keeps a frozen copy of the prices", () => {
    const prices = { date: "2026-01-01", models: { a: { input: 1, cachedInput: 1, output: 1 } } };
    const budget = new Budget({ maxUsd: 1, prices: { ...prices, hosted: {} } });
    prices.models.a.input = 2;
    expect(budget.prices.models["a"]).toEqual({ input: 1, cachedInput: 1, output: 1 });
    expect(budget.prices.models).toSatisfy(Object.isFrozen);
  });

  test("rejects invalid prices, and prices without a limit", () => {
    const prices = { date: "2026-01-01", models: {}, hosted: { web_search: -1 } };
    expect(() => new Budget({ maxUsd: 1, prices })).toThrow(
      'Budget.prices.hosted["web_search"] must be a number of US dollars, 0 or more, got -1.',
    );
    expect(() => new Budget({ prices: defaultPrices })).toThrow("must have at least one limit");
  });

  test("may be used up exactly, despite rounding errors, and reports the dimension usd", () => {
    const tracker = new BudgetTracker(new Budget({ maxUsd: 0.3 }));
    tracker.record({}, 0.1);
    tracker.record({}, 0.2);
    expect([tracker.totalUsd, tracker.excess()]).toEqual([expect.closeTo(0.3), null]);
    tracker.record({ inputTokens: 1 }, 0.000001);
    expect(tracker.excess()).toEqual({ dimension: "usd", used: 0.300001, limit: 0.3 });
    expect(() => tracker.check()).toThrow(
      "Used $0.300001, but the budget allows $0.30. Raise the budget",
    );
  });

  test.each([-1, Number.NaN, "1", null])("rejects a recorded cost of %s", (costUsd) => {
    const tracker = new BudgetTracker(new Budget({ maxUsd: 1 }));
    expect(() => tracker.record({ inputTokens: 1 }, costUsd as never)).toThrow(
      "BudgetTracker.record(costUsd) must be a number of US dollars, 0 or more",
    );
    expect(tracker.total).toBe(noUsage);
  });
});

describe("BudgetTracker", () => {
  test.each([null, undefined])("rejects %s as usage", (usage) => {
    const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1 }));
    expect(() => tracker.record(usage as never)).toThrow(InvalidOptionError);
  });

  test("starts with no usage", () => {
    const budget = new Budget({ maxTotalTokens: 1 });
    const tracker = new BudgetTracker(budget);
    expect(tracker.budget).toBe(budget);
    expect(tracker.total).toBe(noUsage);
    expect(tracker.excess()).toBeNull();
  });

  test("adds up every kind of token, including cached and reasoning tokens", () => {
    const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1 }));
    const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 3, reasoningTokens: 4 };
    tracker.record({ ...usage, totalTokens: 5 });
    tracker.record({ ...usage, totalTokens: 50 });
    expect(tracker.total).toEqual({
      inputTokens: 2,
      outputTokens: 4,
      cachedTokens: 6,
      reasoningTokens: 8,
      totalTokens: 55,
    });
    expect(tracker.total).toSatisfy(Object.isFrozen);
  });

  test("counts input plus output tokens if no total is reported", () => {
    const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1 }));
    tracker.record({ inputTokens: 1, outputTokens: 2 });
    tracker.record({});
    expect(tracker.total.totalTokens).toBe(3);
  });

  const dimensions = [
    ["maxInputTokens", "inputTokens"],
    ["maxOutputTokens", "outputTokens"],
    ["maxTotalTokens", "totalTokens"],
  ] as const;

  test.each(dimensions)("allows usage of exactly %s", (limit, dimension) => {
    const tracker = new BudgetTracker(new Budget({ [limit]: 10 }));
    tracker.record({ [dimension]: 10 });
    tracker.check();
    expect(tracker.excess()).toBeNull();
  });

  test.each(dimensions)(
    "throws if usage exceeds %s by one, naming the dimension, usage and limit",
    (limit, dimension) => {
      const tracker = new BudgetTracker(new Budget({ [limit]: 10 }));
      tracker.record({ [dimension]: 10 });
      tracker.record({ [dimension]: 1 });
      expect(tracker.excess()).toEqual({ dimension, used: 11, limit: 10 });
      const check = () => tracker.check();
      expect(check).toThrow(BudgetExceededError);
      expect(check).toThrow(PromptEvaluationError);
      expect(check).toThrow(
        expect.objectContaining({ dimension, used: 11, limit: 10, phase: "budget" }),
      );
      expect(check).toThrow(`Used 11 ${dimension}, but the budget allows 10. Raise the budget`);
    },
  );

  test("reports the first dimension if several are exceeded", () => {
    const budget = new Budget({ maxInputTokens: 1, maxOutputTokens: 1, maxTotalTokens: 1 });
    const tracker = new BudgetTracker(budget);
    tracker.record({ outputTokens: 2 });
    expect(tracker.excess()?.dimension).toBe("outputTokens");
    tracker.record({ inputTokens: 2 });
    expect(tracker.excess()?.dimension).toBe("inputTokens");
  });

  test("continues to count after the budget is exceeded", () => {
    const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1 }));
    tracker.record({ totalTokens: 2 });
    tracker.record({ totalTokens: 2 });
    expect(tracker.excess()?.used).toBe(4);
  });

  test.each([-1, 0.5, Number.NaN, "3", null, undefined])(
    "rejects a count of %s without recording the rest of that usage",
    (tokens) => {
      const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1 }));
      expect(() => tracker.record({ inputTokens: 7, cachedTokens: tokens as never })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: "BudgetTracker.record(usage).cachedTokens",
          value: tokens,
          message: expect.stringContaining("Pass the provider's token count, or 0."),
        }),
      );
      expect(tracker.total).toBe(noUsage);
    },
  );

  test.each([undefined, null, { maxTotalTokens: 5 }])("rejects %j as a budget", (budget) => {
    expect(() => new BudgetTracker(budget as never)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "BudgetTracker(budget)",
        message: expect.stringContaining(
          "new BudgetTracker(new Budget({ maxTotalTokens: 100_000 }))",
        ),
      }),
    );
  });
});
