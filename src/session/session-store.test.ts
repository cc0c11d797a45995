import { expect, test } from "vitest";
import { WinkError } from "../base/errors.ts";
import { SessionStoreError } from "./session-store.ts";

test("SessionStoreError has the session id and the cause", () => {
  const cause = new Error("ENOSPC");
  const error = new SessionStoreError("It is full", { sessionId: "s", cause });
  expect(error).toBeInstanceOf(WinkError);
  expect(error).toMatchObject({ name: "SessionStoreError", sessionId: "s", cause });
});

test("SessionStoreError has a null session id if it concerns the whole store", () => {
  const error = new SessionStoreError("It cannot be listed");
  expect(error.sessionId).toBeNull();
  expect("cause" in error).toBe(false);
});
