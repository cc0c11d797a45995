import { expect, test } from "vitest";
import { ComparisonBudget } from "./comparison-budget.ts";
import { lineComparisons, normalizeLoosely } from "./line-comparisons.ts";

const compare = (...lines: readonly string[]) => lineComparisons(lines, new ComparisonBudget("f"));
const views = (line: string) => [...compare(line)].map(({ lines }) => lines[0]);

test("lineComparisons() yields exact lines first, then increasingly loose ones", () => {
  expect(views("\t“a” – b ")).toEqual(["\t“a” – b ", "\t“a” – b", "“a” – b", '"a" - b']);
});

test("each comparison normalizes the searched text like the file", () => {
  for (const { lines, normalize: read } of compare(" ‘x’ ")) expect(read(" ‘x’ ")).toBe(lines[0]);
});

test("a comparison is computed once, on first use", () => {
  const all = compare("a");
  expect([...all][3]).toBe([...all][3]);
});

test("a comparison finds every place of consecutive lines", () => {
  const [exact] = compare("a", "b", "a", "b", "c", "a");
  expect(exact?.findAllPlaces(["a", "b"])).toEqual([0, 2]);
  expect(exact?.findAllPlaces(["b", "c"])).toEqual([3]);
  expect(exact?.findAllPlaces(["a", "c"])).toEqual([]);
  expect(exact?.findAllPlaces(["c", "a", "b"])).toEqual([]);
  expect(exact?.findLastPlace(["a"])).toEqual([5]);
  expect(exact?.findLastPlace(["b"])).toEqual([]);
});

test("a comparison of very many equal lines is rejected", () => {
  const [exact] = compare(...Array.from({ length: 10_000 }, () => "x"));
  const wanted = Array.from({ length: 1_000 }, () => "x");
  expect(() => exact?.findAllPlaces(wanted)).toThrow("takes more than 5000000 line comparisons");
});

test.each([
  ["‐‑‒–—―−", "-------"],
  ["‘’‚‛", "''''"],
  ["“”„‟", '""""'],
  ["a\u00a0b\u2003c\u3000d", "a b c d"],
  ["\u00a0a\u2003", "a"],
  ["naïve café ✅ ~ «»", "naïve café ✅ ~ «»"],
])("the loosest comparison normalizes %j to %j", (text, read) => {
  expect(normalizeLoosely(text)).toBe(read);
});
