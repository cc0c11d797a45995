import { expect, test } from "vitest";
import { WinkError } from "../base/errors.ts";
import { SessionStoreError } from "./session-store.ts";

test("a store's error says which session it is about, and why", () => {
  const cause = new Error("ENOSPC");
  const error = new SessionStoreError("It is full", { sessionId: "s", cause });
  expect(error).toBeInstanceOf(WinkError);
  expect(error).toMatchObject({ name: "SessionStoreError", sessionId: "s", cause });
});

test("a store's error about no session in particular says so", () => {
  const error = new SessionStoreError("It cannot be listed");
  expect(error.sessionId).toBeNull();
  expect("cause" in error).toBe(false);
});
