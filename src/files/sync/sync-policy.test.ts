import { expect, test } from "vitest";
import { resolveSyncPolicy } from "./sync-policy.ts";

test.each([
  [{}, "never"],
  [{ syncOnCleanup: true }, "cleanup"],
  [{ syncOnCleanup: false, syncPolicy: "never" }, "never"],
  [{ syncOnCleanup: true, syncPolicy: "eachTurn" }, "eachTurn"],
  [{ syncPolicy: "eachTurn" }, "eachTurn"],
] as const)("the options %o give the sync policy %j", (options, policy) => {
  expect(resolveSyncPolicy(options)).toBe(policy);
});
