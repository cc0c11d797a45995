import { expect, test } from "vitest";
import { toFailureDocument } from "./to-failure-document.ts";

test("an error has its class and its message", () => {
  expect(toFailureDocument(new TypeError("no flour"), "one")).toEqual({
    error: { name: "TypeError", message: "no flour", sessionId: "one" },
  });
});

test("a thrown value that is no error has its type as its name", () => {
  expect(toFailureDocument("no flour", null)).toEqual({
    error: { name: "string", message: '"no flour"', sessionId: null },
  });
});
