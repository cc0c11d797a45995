import { expect, test } from "vitest";
import { lineViews, readLoosely } from "./line-views.ts";

const views = (line: string) => [...lineViews([line])].map(({ lines }) => lines[0]);

test("a line is seen as it is, then ever more loosely", () => {
  expect(views("\t“a” – b ")).toEqual(["\t“a” – b ", "\t“a” – b", "“a” – b", '"a" - b']);
});

test("each view reads what is looked for as it reads the file", () => {
  for (const { lines, read } of lineViews([" ‘x’ "])) expect(read(" ‘x’ ")).toBe(lines[0]);
});

test("a view is made when it is first asked for, and once", () => {
  const all = lineViews(["a"]);
  expect([...all][3]).toBe([...all][3]);
});

test.each([
  ["‐‑‒–—―−", "-------"],
  ["‘’‚‛", "''''"],
  ["“”„‟", '""""'],
  ["a\u00a0b\u2003c\u3000d", "a b c d"],
  ["\u00a0a\u2003", "a"],
  ["naïve café ✅ ~ «»", "naïve café ✅ ~ «»"],
])("the loosest view reads %j as %j", (text, read) => {
  expect(readLoosely(text)).toBe(read);
});
