import { expect, test } from "vitest";
import { pathFilter } from "./path-filter.ts";

test("pathFilter() includes everything without patterns", () => {
  const filter = pathFilter([], []);
  expect(filter.includes("a/b", false)).toBe(true);
  expect(filter.findExclusion("a/b", false)).toBeNull();
  expect(filter.listUnmatched()).toEqual([]);
});

test("pathFilter() lets a star match slashes", () => {
  const filter = pathFilter(["*.py"], [".git/*"]);
  expect(["a.py", "a/b.py", "a.pyc"].map((path) => filter.includes(path, false))).toEqual([
    true,
    true,
    false,
  ]);
  expect(filter.findExclusion(".git/a/b", false)).toBe(".git/*");
  expect(filter.findExclusion("x/.git/a", false)).toBeNull();
});

test("pathFilter() excludes a folder if a pattern matches everything in it", () => {
  const filter = pathFilter(["src/*"], ["out", ".git/*"]);
  expect(filter.findExclusion("a/out", true)).toBe("out");
  expect(filter.findExclusion(".git", true)).toBe(".git/*");
  expect(filter.findExclusion(".git", false)).toBeNull();
  expect(filter.includes("src", true)).toBe(true);
});

test("pathFilter() lists the patterns of both lists that matched nothing", () => {
  const filter = pathFilter(["*.py", "*.md"], ["a.*", "b.py", "none", "none"]);
  expect(filter.listUnmatched()).toEqual(["*.py", "*.md", "a.*", "b.py", "none"]);
  filter.includes("a.py", false);
  expect(filter.listUnmatched()).toEqual(["*.md", "a.*", "b.py", "none"]);
  filter.findExclusion("a.py", false);
  filter.findExclusion("b.py", false);
  expect(filter.listUnmatched()).toEqual(["*.md", "none"]);
});

test("pathFilter() marks every pattern that matches a path, not only the first", () => {
  const filter = pathFilter([], ["*.log", "debug.*", "*"]);
  expect(filter.findExclusion("debug.log", false)).toBe("*.log");
  expect(filter.listUnmatched()).toEqual([]);
});
