import { describe, expect, test } from "vitest";
import { noUsage, usageOf } from "../../base/usage.ts";
import { UsageMeter } from "./turn.ts";

const result = {
  total_cost_usd: 0.5,
  modelUsage: {
    "claude-big": {
      inputTokens: 10,
      outputTokens: 5,
      cacheReadInputTokens: 3,
      cacheCreationInputTokens: 2,
    },
    "claude-small": { inputTokens: 100, outputTokens: 50 },
  },
};

describe("what a run used besides its turns", () => {
  test("is what all models used, without what turns were told to have", () => {
    const spent = new UsageMeter();
    const turn = usageOf({ inputTokens: 15, outputTokens: 5, cachedTokens: 3 });
    expect(spent.add(turn)).toBe(turn);
    expect(spent.remainder(result)).toEqual(usageOf({ inputTokens: 100, outputTokens: 50 }));
  });

  test("is told once, however often it is asked", () => {
    const spent = new UsageMeter();
    expect(spent.remainder(result)).toEqual(
      usageOf({ inputTokens: 115, outputTokens: 55, cachedTokens: 3 }),
    );
    expect(spent.remainder(result)).toEqual(noUsage);
  });

  test("is never less than nothing", () => {
    const spent = new UsageMeter();
    spent.add(usageOf({ inputTokens: 1000, outputTokens: 1, cachedTokens: 9 }));
    expect(spent.remainder(result)).toEqual(usageOf({ outputTokens: 54 }));
  });

  test.each([{}, { modelUsage: null }, { modelUsage: { one: null, other: { inputTokens: "7" } } }])(
    "is nothing where the SDK does not say: %j",
    (unclear) => {
      expect(new UsageMeter().remainder(unclear)).toEqual(noUsage);
    },
  );
});

describe("the cost", () => {
  test("is what came to the sum since it was last asked", () => {
    const spent = new UsageMeter();
    expect(spent.costSince(result)).toBe(0.5);
    expect(spent.costSince({ total_cost_usd: 0.75 })).toBe(0.25);
    expect(spent.costSince({ total_cost_usd: 0.25 })).toBe(0);
    expect(spent.costSince({ total_cost_usd: 0 })).toBe(0);
  });

  test.each([{}, { total_cost_usd: null }, { total_cost_usd: Number.NaN }])(
    "is not known where the SDK does not say: %j",
    (unclear) => {
      expect(new UsageMeter().costSince(unclear)).toBeUndefined();
    },
  );
});

describe("a step is measured", () => {
  const usage = usageOf({ inputTokens: 15, outputTokens: 5, cachedTokens: 3 });
  const step = {
    ...{ message: null, text: "", calls: [], native: [], usage },
    ...{ result: null, failure: null, retry: null },
  };

  test("by its own usage while the run continues", () => {
    expect(new UsageMeter().measure(step)).toEqual({ usage });
  });

  test("with the rest of the usage and the cost when there is a result", () => {
    const all = usageOf({ inputTokens: 115, outputTokens: 55, cachedTokens: 3 });
    expect(new UsageMeter().measure({ ...step, result })).toEqual({ usage: all, costUsd: 0.5 });
    const unclear = new UsageMeter().measure({ ...step, result: {} });
    expect(unclear).toEqual({ usage });
  });
});
