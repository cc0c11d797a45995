import { describe, expect, test } from "vitest";
import { Budget, BudgetTracker } from "./budget.ts";
import { InvalidOptionError } from "./errors.ts";
import { BudgetExceededError, PromptEvaluationError } from "./evaluation-errors.ts";
import { noUsage } from "./usage.ts";

describe("a budget", () => {
  test("limits what is given and nothing else", () => {
    expect(new Budget({ maxOutputTokens: 5 })).toEqual({
      maxInputTokens: null,
      maxOutputTokens: 5,
      maxTotalTokens: null,
    });
  });

  test("is frozen", () => {
    expect(new Budget({ maxTotalTokens: 1 })).toSatisfy(Object.isFrozen);
  });

  test.each([[{}], [{ maxInputTokens: undefined }], [undefined as never], [null as never]])(
    "that limits nothing is refused: %j",
    (options) => {
      expect(() => new Budget(options)).toThrow(InvalidOptionError);
      expect(() => new Budget(options)).toThrow(
        /^Budget must limit something, .*: set maxInputTokens, maxOutputTokens or maxTotalTokens$/,
      );
    },
  );

  const limits = ["maxInputTokens", "maxOutputTokens", "maxTotalTokens"] as const;
  const wrong = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "5", null, 5n];

  test.each(limits.flatMap((name) => wrong.map((value) => [name, value] as const)))(
    "refuses %s of %s, and says so",
    (name, value) => {
      expect(() => new Budget({ [name]: value as never })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: `Budget.${name}`,
          value,
          message: expect.stringMatching(
            /must be a positive whole number of tokens, got .*. Leave it out for no limit$/,
          ),
        }),
      );
    },
  );
});

describe("a tracker", () => {
  test.each([null, undefined])("refuses to record %s", (usage) => {
    const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1 }));
    expect(() => tracker.record(usage as never)).toThrow(InvalidOptionError);
  });

  test("starts with nothing used", () => {
    const budget = new Budget({ maxTotalTokens: 1 });
    const tracker = new BudgetTracker(budget);
    expect(tracker.budget).toBe(budget);
    expect(tracker.total).toBe(noUsage);
    expect(tracker.excess()).toBeNull();
  });

  test("adds up every dimension, cached and reasoning tokens too", () => {
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

  test("takes the total for input and output where none is reported", () => {
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

  test.each(dimensions)("lets exactly %s pass", (limit, dimension) => {
    const tracker = new BudgetTracker(new Budget({ [limit]: 10 }));
    tracker.record({ [dimension]: 10 });
    tracker.check();
    expect(tracker.excess()).toBeNull();
  });

  test.each(dimensions)(
    "refuses one more than %s, saying which and how much",
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
      expect(check).toThrow(`11 ${dimension} were used and the budget allows 10: raise the budget`);
    },
  );

  test("names the first dimension where several are exceeded", () => {
    const budget = new Budget({ maxInputTokens: 1, maxOutputTokens: 1, maxTotalTokens: 1 });
    const tracker = new BudgetTracker(budget);
    tracker.record({ outputTokens: 2 });
    expect(tracker.excess()?.dimension).toBe("outputTokens");
    tracker.record({ inputTokens: 2 });
    expect(tracker.excess()?.dimension).toBe("inputTokens");
  });

  test("goes on counting after it was exceeded", () => {
    const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1 }));
    tracker.record({ totalTokens: 2 });
    tracker.record({ totalTokens: 2 });
    expect(tracker.excess()?.used).toBe(4);
  });

  test.each([-1, 0.5, Number.NaN, "3", null, undefined])(
    "refuses %s tokens, and counts nothing of that report",
    (tokens) => {
      const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1 }));
      expect(() => tracker.record({ inputTokens: 7, cachedTokens: tokens as never })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: "BudgetTracker.record(usage).cachedTokens",
          value: tokens,
          message: expect.stringContaining("record what the provider reported, or 0"),
        }),
      );
      expect(tracker.total).toBe(noUsage);
    },
  );

  test.each([undefined, null, { maxTotalTokens: 5 }])("refuses %j for a budget", (budget) => {
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
