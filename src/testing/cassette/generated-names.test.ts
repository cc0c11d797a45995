import { expect, test } from "vitest";
import { formatValueDifference } from "./format-value-difference.ts";
import { GeneratedNames } from "./generated-names.ts";

test("names pair if each stands for the same name everywhere", () => {
  const names = new GeneratedNames();
  expect(names.canPair(["old"], ["new"])).toBe(true);
  names.pair(["old"], ["new"]);
  expect(names.canPair(["old"], ["new"])).toBe(true);
  expect(names.canPair(["old"], ["another"])).toBe(false);
  expect(names.canPair(["older"], ["new"])).toBe(false);
  expect(names.canPair(["older"], [])).toBe(true);
});

test("a difference of texts that end with a line break has no line without one", () => {
  const difference = formatValueDifference({ recorded: "a\nb\n", sent: "a\nc\n" } as never);
  expect(difference).toContain("c");
  expect(difference).not.toContain("No newline");
});

test("a recorded name without a counterpart stays", () => {
  const names = new GeneratedNames();
  names.pair(["old", "older"], ["new"]);
  expect(names.canPair(["older"], ["older"])).toBe(true);
  expect(names.canPair(["older"], ["new"])).toBe(false);
});
