import { describe, expect, test } from "vitest";
import { noUsage, toUsage } from "../../base/usage.ts";
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

describe("UsageMeter.remainder()", () => {
  test("returns the usage of all models minus the counted turns", () => {
    const meter = new UsageMeter();
    const turn = toUsage({ inputTokens: 15, outputTokens: 5, cachedTokens: 3 });
    expect(meter.add(turn)).toBe(turn);
    expect(meter.remainder(result)).toEqual(toUsage({ inputTokens: 100, outputTokens: 50 }));
  });

  test("returns the same usage only once", () => {
    const meter = new UsageMeter();
    expect(meter.remainder(result)).toEqual(
      toUsage({ inputTokens: 115, outputTokens: 55, cachedTokens: 3 }),
    );
    expect(meter.remainder(result)).toEqual(noUsage);
  });

  test("is never negative", () => {
    const meter = new UsageMeter();
    meter.add(toUsage({ inputTokens: 1000, outputTokens: 1, cachedTokens: 9 }));
    expect(meter.remainder(result)).toEqual(toUsage({ outputTokens: 54 }));
  });

  test.each([{}, { modelUsage: null }, { modelUsage: { one: null, other: { inputTokens: "7" } } }])(
    "is zero if the SDK reports no usage: %j",
    (unclear) => {
      expect(new UsageMeter().remainder(unclear)).toEqual(noUsage);
    },
  );
});

describe("UsageMeter.costSince()", () => {
  test("returns the cost since the last call", () => {
    const meter = new UsageMeter();
    expect(meter.costSince(result)).toBe(0.5);
    expect(meter.costSince({ total_cost_usd: 0.75 })).toBe(0.25);
    expect(meter.costSince({ total_cost_usd: 0.25 })).toBe(0);
    expect(meter.costSince({ total_cost_usd: 0 })).toBe(0);
  });

  test.each([{}, { total_cost_usd: null }, { total_cost_usd: Number.NaN }])(
    "is undefined if the SDK reports no cost: %j",
    (unclear) => {
      expect(new UsageMeter().costSince(unclear)).toBeUndefined();
    },
  );
});

describe("UsageMeter.measure()", () => {
  const usage = toUsage({ inputTokens: 15, outputTokens: 5, cachedTokens: 3 });
  const step = {
    ...{ message: null, text: "", calls: [], native: [], usage },
    ...{ result: null, failure: null, retry: null, hasRetried: false },
  };

  test("returns the step's usage while the run continues", () => {
    expect(new UsageMeter().measure(step)).toEqual({ usage });
  });

  test("adds the remaining usage and the cost when the run has a result", () => {
    const all = toUsage({ inputTokens: 115, outputTokens: 55, cachedTokens: 3 });
    expect(new UsageMeter().measure({ ...step, result })).toEqual({ usage: all, costUsd: 0.5 });
    const unclear = new UsageMeter().measure({ ...step, result: {} });
    expect(unclear).toEqual({ usage });
  });
});
