import { expect, test } from "vitest";
import { syncPolicyOf } from "./sync-policy.ts";

test.each([
  [{}, "never"],
  [{ syncOnCleanup: true }, "cleanup"],
  [{ syncOnCleanup: true, syncPolicy: "never" }, "never"],
  [{ syncPolicy: "eachTurn" }, "eachTurn"],
] as const)("the options %o give the sync policy %j", (options, policy) => {
  expect(syncPolicyOf(options)).toBe(policy);
});
