import { expect, test } from "vitest";
import { lineComparisons, normalizeLoosely } from "./line-comparisons.ts";

const views = (line: string) => [...lineComparisons([line])].map(({ lines }) => lines[0]);

test("lineComparisons() yields exact lines first, then increasingly loose ones", () => {
  expect(views("\t“a” – b ")).toEqual(["\t“a” – b ", "\t“a” – b", "“a” – b", '"a" - b']);
});

test("each comparison normalizes the searched text like the file", () => {
  for (const { lines, normalize: read } of lineComparisons([" ‘x’ "]))
    expect(read(" ‘x’ ")).toBe(lines[0]);
});

test("a comparison is computed once, on first use", () => {
  const all = lineComparisons(["a"]);
  expect([...all][3]).toBe([...all][3]);
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
