import { describe, expect, test } from "vitest";
import { placeHunks } from "./place-hunks.ts";
import { parseHunks } from "./v4a-hunks.ts";
import { patchLines } from "./v4a-patch.ts";

const placesOf = (file: readonly string[], diff: string) =>
  placeHunks(file, parseHunks(patchLines(diff, "a.txt"), "a.txt"), "a.txt").map(({ at }) => at);
const refusal = (facts: object) =>
  expect.objectContaining({ name: "PatchError", path: "a.txt", ...facts });

describe("a hunk goes", () => {
  test("where its kept and removed lines stand together", () => {
    expect(placesOf(["a", "b", "a", "c"], " a\n-c\n+d")).toEqual([2]);
    expect(placesOf(["a", "b", "a", "c"], "+x\n a\n-b")).toEqual([0]);
  });

  test("to the exact place, though others are like it", () => {
    expect(placesOf(["  a", "a ", "a"], "-a")).toEqual([2]);
    expect(placesOf(["“a”", '"a"'], '-"a"')).toEqual([1]);
  });

  test.each([
    [["x", "a \t"], "-a"],
    [["x", "a"], "-a  "],
    [["x", "\ta"], "-    a"],
    [["x", "say “a” — b"], '-say "a" - b'],
  ])("to the one place of %j that %j is like", (file, diff) => {
    expect(placesOf(file, diff)).toEqual([1]);
  });

  test("to the stricter of two likenesses", () => {
    expect(placesOf([" a", "a "], "-a")).toEqual([1]);
    expect(placesOf(["–", " -"], "--")).toEqual([1]);
  });

  test("to the end if it only adds", () => {
    expect(placesOf(["a", "b"], "@@\n+c")).toEqual([2]);
    expect(placesOf([], "@@\n+c\n*** End of File")).toEqual([0]);
  });

  test("to the end even before hunks that follow it", () => {
    expect(placesOf(["a", "b"], "@@\n+c\n@@\n-a\n@@\n+d")).toEqual([0, 2, 2]);
  });

  test("to the end of the file, though it would fit before, if it says so", () => {
    expect(placesOf(["a", "b", "a"], "-a\n*** End of File")).toEqual([2]);
    expect(placesOf(["a", "b", "a"], "+x\n a\n*** End of File")).toEqual([2]);
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

  test("puts the hunk at the first place below it", () => {
    expect(placesOf(methods, "@@ class B\n-    x")).toEqual([5]);
    expect(placesOf(methods, "@@ class A\n-    x")).toEqual([2]);
    expect(placesOf(methods, "@@   def n\n-    x")).toEqual([7]);
  });

  test("is looked for below the one around it", () => {
    expect(placesOf(methods, "@@ class B\n@@   def m\n-    x")).toEqual([5]);
    expect(placesOf(methods, "@@ class B\n@@   def n\n-    x")).toEqual([7]);
  });

  test("need not have the spaces and marks of the file", () => {
    expect(placesOf(methods, "@@ class B \n@@ def m\n-x")).toEqual([5]);
    expect(placesOf(["it’s", "a", "a"], "@@ it's\n-a")).toEqual([1]);
  });

  test("has what is only added right below it", () => {
    expect(placesOf(methods, "@@ class B\n+  y = 1")).toEqual([4]);
    expect(placesOf(methods, "@@ class B\n+end\n*** End of File")).toEqual([8]);
  });

  test("may be above hunks that were placed before", () => {
    expect(placesOf(["f", "a", "b", "a", "b"], "@@ f\n-a\n@@ f\n-b")).toEqual([1, 2]);
  });

  test("may stand in several places if all lead to one", () => {
    expect(placesOf(["f", "f", "a"], "@@ f\n-a")).toEqual([2]);
    expect(placesOf(["f", "f", "g", "a", "a"], "@@ f\n@@ g\n-a")).toEqual([3]);
  });

  test("counts for the end of the file too", () => {
    expect(placesOf(["a", "f", "a"], "@@ f\n-a\n*** End of File")).toEqual([2]);
    expect(() => placesOf(["a", "f"], "@@ f\n-f\n*** End of File")).toThrow(
      refusal({ hunk: 1, line: 2 }),
    );
  });

  test("that no line is like is refused", () => {
    expect(() => placesOf(methods, "@@ class C\n-    x")).toThrow(refusal({ hunk: 1, line: 1 }));
    expect(() => placesOf(methods, "@@ class B\n@@ class A\n-    x")).toThrow(
      refusal({ hunk: 1, line: 2 }),
    );
  });

  test("that leads to several places is refused", () => {
    expect(() => placesOf(methods, "@@   def m\n-    x")).toThrow("fits at lines 3 and 6");
    expect(() => placesOf(methods, "@@   def m\n+    y")).toThrow("fits at lines 3 and 6");
  });
});

describe("several hunks", () => {
  test("go one below the other", () => {
    expect(placesOf(["a", "b", "c", "d"], "@@\n-b\n@@\n-d")).toEqual([1, 3]);
  });

  test("are placed by those below them", () => {
    expect(placesOf(["a", "y", "a"], "@@\n-a\n@@\n-y")).toEqual([0, 1]);
    expect(placesOf(["a", "a"], "@@\n-a\n@@\n-a")).toEqual([0, 1]);
    expect(placesOf(["f", "a", "a"], "@@ f\n+x\n@@\n-a\n@@\n-a")).toEqual([1, 1, 2]);
  });

  test("are placed by those above them", () => {
    expect(placesOf(["a", "y", "a"], "@@\n-y\n@@\n-a")).toEqual([1, 2]);
  });

  test("are refused if one could go elsewhere, and the first such is named", () => {
    expect(() => placesOf(["a", "a"], "@@\n-a")).toThrow(refusal({ hunk: 1, line: 2 }));
    expect(() => placesOf(["y", "a", "a"], "@@\n-y\n@@\n-a")).toThrow(
      refusal({ hunk: 2, line: 4 }),
    );
    expect(() => placesOf(["a", "a", "a"], "@@\n-a\n@@\n-a")).toThrow(refusal({ hunk: 1 }));
  });

  test("are refused in another order than the file's", () => {
    expect(() => placesOf(["a", "b"], "@@\n-b\n@@\n-a")).toThrow(refusal({ hunk: 2, line: 4 }));
    expect(() => placesOf(["f", "a"], "@@\n-a\n@@ f\n+x")).toThrow(refusal({ hunk: 2, line: 4 }));
    expect(() => placesOf(["a", "b"], "@@\n-b\n*** End of File\n@@\n-a")).toThrow(
      "not below the hunk before it",
    );
  });

  test("are refused if they share a line", () => {
    expect(() => placesOf(["a", "b", "c"], "@@\n-a\n b\n@@\n b\n-c")).toThrow(refusal({ hunk: 2 }));
  });
});

test("a file of many lines that are all alike is searched in time", () => {
  const file = Array.from({ length: 20_000 }, () => "x");
  expect(() => placesOf(file, "@@ x\n@@ x\n-x")).toThrow("and 19996 more");
  expect(() => placesOf(file, "@@ x\n@@ y\n-x")).toThrow(refusal({ hunk: 1, line: 2 }));
});
