import { hostname } from "node:os";
import { expect, test } from "vitest";
import { getClaimOwner } from "./claim-owner.ts";

test("getClaimOwner() names the process and its host by default", () => {
  expect(getClaimOwner()).toBe(`process ${process.pid} on ${hostname()}`);
  expect(getClaimOwner({ owner: undefined })).toBe(getClaimOwner());
  expect(getClaimOwner({ owner: "worker 7" })).toBe("worker 7");
});

test.each(["", "x".repeat(201), "a\nb", "\u001b[2J", 5])("rejects %j as an owner", (owner) => {
  expect(() => getClaimOwner({ owner: owner as string })).toThrow(
    "SessionStore.claim(options.owner) must be one line of 1-200 characters",
  );
});

test("rejects unknown options", () => {
  expect(() => getClaimOwner({ ownr: "a" } as object)).toThrow('Did you mean "owner"?');
});
