import { expect, test } from "vitest";
import { addUsage, noUsage, toUsage } from "./usage.ts";

test("toUsage() sets omitted fields to 0 and the total to input plus output", () => {
  expect(toUsage({ inputTokens: 3, outputTokens: 4, cachedTokens: 2 })).toEqual({
    inputTokens: 3,
    outputTokens: 4,
    cachedTokens: 2,
    reasoningTokens: 0,
    totalTokens: 7,
  });
  expect(toUsage({})).toEqual(noUsage);
});

test("toUsage() keeps a given total even if it is not the sum", () => {
  expect(toUsage({ inputTokens: 3, totalTokens: 10 }).totalTokens).toBe(10);
  expect(toUsage({ inputTokens: 3, totalTokens: 0 }).totalTokens).toBe(0);
});

test("addUsage() adds usages field by field and returns a new frozen object", () => {
  const one = toUsage({ inputTokens: 1, outputTokens: 2, cachedTokens: 3, reasoningTokens: 4 });
  const sum = addUsage(one, toUsage({ inputTokens: 10, reasoningTokens: 5 }));
  expect(sum).toEqual({
    inputTokens: 11,
    outputTokens: 2,
    cachedTokens: 3,
    reasoningTokens: 9,
    totalTokens: 13,
  });
  expect([one, sum, noUsage, toUsage({})].every(Object.isFrozen)).toBe(true);
  expect(one.inputTokens).toBe(1);
});
