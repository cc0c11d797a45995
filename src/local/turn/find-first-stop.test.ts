import { expect, test } from "vitest";
import { findFirstStop } from "./find-first-stop.ts";

test("findFirstStop() returns the stop sequence that comes first in the text", () => {
  expect(findFirstStop("one two three", ["three", "two"])).toEqual({ at: 4, sequence: "two" });
  expect(findFirstStop("one two three", ["two", "three"])).toEqual({ at: 4, sequence: "two" });
  expect(findFirstStop("one", ["", "four"])).toBeNull();
});
