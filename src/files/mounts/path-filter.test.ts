import { expect, test } from "vitest";
import { pathFilter } from "./path-filter.ts";

test("pathFilter() includes everything without patterns", () => {
  const filter = pathFilter([], []);
  expect([filter.includes("a/b"), filter.excludes("a/b"), filter.prunes("a")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("pathFilter() lets a star match slashes", () => {
  const filter = pathFilter(["*.py"], [".git/*"]);
  expect(["a.py", "a/b.py", "a.pyc"].map((path) => filter.includes(path))).toEqual([
    true,
    true,
    false,
  ]);
  expect([".git/a/b", "x/.git/a"].map((path) => filter.excludes(path))).toEqual([true, false]);
});

test.each([
  [".git/*", ".git", true],
  [".git/*", ".git/hooks", true],
  [".git/**", ".git", true],
  ["*/node_modules/*", "a/node_modules", true],
  ["**/node_modules/*", "node_modules", true],
  [".git/*", "x/.git", false],
  [".git/*", ".github", false],
  ["*.git/*", "a.git", true],
  [".git/h*", ".git", false],
  [".git/[!a]*", ".git", false],
  [".git/*.pack", ".git", false],
  ["*.pyc", "a", false],
  [".git", ".git", false],
])(
  "pathFilter() with the exclude pattern %j prunes the folder %j: %j",
  (pattern, folder, prunes) => {
    expect(pathFilter([], [pattern]).prunes(folder)).toBe(prunes);
  },
);
