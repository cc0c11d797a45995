import { expect, test } from "vitest";
import { MountBudget } from "./mount-budget.ts";

test("MountBudget accepts maxBytes exactly and rejects one byte more, naming mount, limit and file", () => {
  const budget = new MountBudget("mounts[0]", 10);
  budget.spend(4, "a");
  budget.spend(6, "b");
  budget.spend(0, "c");
  expect(budget.bytes).toBe(10);
  expect(() => budget.spend(1, "d")).toThrow(
    'mounts[0] is over its maxBytes of 10: "d" brings it to 11',
  );
});
