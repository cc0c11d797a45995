import { expect, test } from "vitest";
import { replaceText } from "./replace-text.ts";

test("replaceText() replaces every occurrence and counts them", () => {
  expect(replaceText("a-b-c", "-", "+")).toEqual({ text: "a+b+c", found: 2 });
  expect(replaceText("abc", "x", "y")).toEqual({ text: "abc", found: 0 });
  expect(replaceText("aaa", "aa", "b")).toEqual({ text: "ba", found: 1 });
});

test("replaceText() rejects a text that occurs more than 100,000 times", () => {
  expect(() => replaceText("a".repeat(100_001), "a", "b")).toThrow("more than 100000 times");
});

test("replaceText() rejects a result that is too large to write, before creating it", () => {
  const after = "b".repeat(2 ** 20);
  expect(() => replaceText("a".repeat(1000), "a", after)).toThrow("Pass a shorter new_text");
});
