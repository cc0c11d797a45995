import { expect, test } from "vitest";
import { syncPolicyOf } from "./sync-policy.ts";

test.each([
  [{}, "never"],
  [{ syncOnCleanup: true }, "cleanup"],
  [{ syncOnCleanup: true, syncPolicy: "never" }, "never"],
  [{ syncPolicy: "eachTurn" }, "eachTurn"],
] as const)("of %o the policy is %j", (wishes, policy) => {
  expect(syncPolicyOf(wishes)).toBe(policy);
});
