import { describe, expect, test } from "vitest";
import { parseHunks } from "./parse-hunks.ts";
import { toPatchLines } from "./parse-patch.ts";
import { placeHunks } from "./place-hunks.ts";

const findHunkPlaces = (file: readonly string[], diff: string) =>
  placeHunks(file, parseHunks(toPatchLines(diff, "a.txt"), "a.txt"), "a.txt").map(({ at }) => at);
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PatchError", path: "a.txt", ...facts });

describe("a hunk is placed", () => {
  test("where its kept and removed lines are together", () => {
    expect(findHunkPlaces(["a", "b", "a", "c"], " a\n-c\n+d")).toEqual([2]);
    expect(findHunkPlaces(["a", "b", "a", "c"], "+x\n a\n-b")).toEqual([0]);
  });

  test("at the exact match, even if others are similar", () => {
    expect(findHunkPlaces(["  a", "a ", "a"], "-a")).toEqual([2]);
    expect(findHunkPlaces(["“a”", '"a"'], '-"a"')).toEqual([1]);
  });

  test.each([
    [["x", "a \t"], "-a"],
    [["x", "a"], "-a  "],
    [["x", "\ta"], "-    a"],
    [["x", "say “a” — b"], '-say "a" - b'],
  ])("at the only place in %j that resembles %j", (file, diff) => {
    expect(findHunkPlaces(file, diff)).toEqual([1]);
  });

  test("at the stricter of two similar matches", () => {
    expect(findHunkPlaces([" a", "a "], "-a")).toEqual([1]);
    expect(findHunkPlaces(["–", " -"], "--")).toEqual([1]);
  });

  test("at the end if it only adds lines", () => {
    expect(findHunkPlaces(["a", "b"], "@@\n+c")).toEqual([2]);
    expect(findHunkPlaces([], "@@\n+c\n*** End of File")).toEqual([0]);
  });

  test("at the end even if other hunks follow", () => {
    expect(findHunkPlaces(["a", "b"], "@@\n+c\n@@\n-a\n@@\n+d")).toEqual([0, 2, 2]);
  });

  test("at the end of the file if it has the end-of-file marker, even if it matches earlier", () => {
    expect(findHunkPlaces(["a", "b", "a"], "-a\n*** End of File")).toEqual([2]);
    expect(findHunkPlaces(["a", "b", "a"], "+x\n a\n*** End of File")).toEqual([2]);
  });
});

describe("an anchor", () => {
  const methods = [
    "class A",
    "  def m",
    "    x",
    "class B",
    "  def m",
    "    x",
    "  def n",
    "    x",
  ];

  test("places the hunk at the first match below it", () => {
    expect(findHunkPlaces(methods, "@@ class B\n-    x")).toEqual([5]);
    expect(findHunkPlaces(methods, "@@ class A\n-    x")).toEqual([2]);
    expect(findHunkPlaces(methods, "@@   def n\n-    x")).toEqual([7]);
  });

  test("is searched for below the outer anchor", () => {
    expect(findHunkPlaces(methods, "@@ class B\n@@   def m\n-    x")).toEqual([5]);
    expect(findHunkPlaces(methods, "@@ class B\n@@   def n\n-    x")).toEqual([7]);
  });

  test("matches without the file's spaces and punctuation", () => {
    expect(findHunkPlaces(methods, "@@ class B \n@@ def m\n-x")).toEqual([5]);
    expect(findHunkPlaces(["it’s", "a", "a"], "@@ it's\n-a")).toEqual([1]);
  });

  test("places added lines directly below it", () => {
    expect(findHunkPlaces(methods, "@@ class B\n+  y = 1")).toEqual([4]);
    expect(findHunkPlaces(methods, "@@ class B\n+end\n*** End of File")).toEqual([8]);
  });

  test("may be above hunks that were placed before", () => {
    expect(findHunkPlaces(["f", "a", "b", "a", "b"], "@@ f\n-a\n@@ f\n-b")).toEqual([1, 2]);
  });

  test("may occur several times if all occurrences lead to one place", () => {
    expect(findHunkPlaces(["f", "f", "a"], "@@ f\n-a")).toEqual([2]);
    expect(findHunkPlaces(["f", "f", "g", "a", "a"], "@@ f\n@@ g\n-a")).toEqual([3]);
  });

  test("also applies to a hunk at the end of the file", () => {
    expect(findHunkPlaces(["a", "f", "a"], "@@ f\n-a\n*** End of File")).toEqual([2]);
    expect(() => findHunkPlaces(["a", "f"], "@@ f\n-f\n*** End of File")).toThrow(
      matchError({ hunk: 1, line: 2 }),
    );
  });

  test("that matches no line is rejected", () => {
    expect(() => findHunkPlaces(methods, "@@ class C\n-    x")).toThrow(
      matchError({ hunk: 1, line: 1 }),
    );
    expect(() => findHunkPlaces(methods, "@@ class B\n@@ class A\n-    x")).toThrow(
      matchError({ hunk: 1, line: 2 }),
    );
  });

  test("that leads to several places is rejected", () => {
    expect(() => findHunkPlaces(methods, "@@   def m\n-    x")).toThrow("matches at lines 3 and 6");
    expect(() => findHunkPlaces(methods, "@@   def m\n+    y")).toThrow("matches at lines 3 and 6");
  });
});

describe("several hunks", () => {
  test("are placed in file order", () => {
    expect(findHunkPlaces(["a", "b", "c", "d"], "@@\n-b\n@@\n-d")).toEqual([1, 3]);
  });

  test("are disambiguated by later hunks", () => {
    expect(findHunkPlaces(["a", "y", "a"], "@@\n-a\n@@\n-y")).toEqual([0, 1]);
    expect(findHunkPlaces(["a", "a"], "@@\n-a\n@@\n-a")).toEqual([0, 1]);
    expect(findHunkPlaces(["f", "a", "a"], "@@ f\n+x\n@@\n-a\n@@\n-a")).toEqual([1, 1, 2]);
  });

  test("are disambiguated by earlier hunks", () => {
    expect(findHunkPlaces(["a", "y", "a"], "@@\n-y\n@@\n-a")).toEqual([1, 2]);
  });

  test("are rejected if one is ambiguous, naming the first ambiguous one", () => {
    expect(() => findHunkPlaces(["a", "a"], "@@\n-a")).toThrow(matchError({ hunk: 1, line: 2 }));
    expect(() => findHunkPlaces(["y", "a", "a"], "@@\n-y\n@@\n-a")).toThrow(
      matchError({ hunk: 2, line: 4 }),
    );
    expect(() => findHunkPlaces(["a", "a", "a"], "@@\n-a\n@@\n-a")).toThrow(
      matchError({ hunk: 1 }),
    );
  });

  test("are rejected if they are not in file order", () => {
    expect(() => findHunkPlaces(["a", "b"], "@@\n-b\n@@\n-a")).toThrow(
      matchError({ hunk: 2, line: 4 }),
    );
    expect(() => findHunkPlaces(["f", "a"], "@@\n-a\n@@ f\n+x")).toThrow(
      matchError({ hunk: 2, line: 4 }),
    );
    expect(() => findHunkPlaces(["a", "b"], "@@\n-b\n*** End of File\n@@\n-a")).toThrow(
      "not below the previous hunk",
    );
  });

  test("are rejected if they share a line", () => {
    expect(() => findHunkPlaces(["a", "b", "c"], "@@\n-a\n b\n@@\n b\n-c")).toThrow(
      matchError({ hunk: 2 }),
    );
  });
});

test("placeHunks() searches a file of 20,000 identical lines before the test times out", () => {
  const file = Array.from({ length: 20_000 }, () => "x");
  expect(() => findHunkPlaces(file, "@@ x\n@@ x\n-x")).toThrow("and 19996 more");
  expect(() => findHunkPlaces(file, "@@ x\n@@ y\n-x")).toThrow(matchError({ hunk: 1, line: 2 }));
});
