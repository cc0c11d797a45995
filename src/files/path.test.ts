import { describe, expect, test } from "vitest";
import { FilesystemError } from "../base/filesystem-error.ts";
import { ancestorsOf, checkedPath, parentOf } from "./path.ts";

describe("a path", () => {
  test.each([
    ["a", "a"],
    ["a/b", "a/b"],
    [".", "."],
    ["./a", "a"],
    ["a/./b", "a/b"],
    ["a/../b", "b"],
    ["a/..", "."],
    ["..a/b..", "..a/b.."],
    ["a b/ö\\c", "a b/ö\\c"],
  ])("%j is spelt %j", (path, spelling) => {
    expect(checkedPath(path)).toBe(spelling);
  });

  test.each([
    ["", 'is empty: the root is "."'],
    ["a\0b", "holds a NUL"],
    ["a\ud800b", "holds half of a character"],
    ["/a", "is absolute: paths start at the root"],
    ["/", "is absolute"],
    ["a//b", "has an empty segment: write a/b"],
    ["a/", "has an empty segment"],
    ["..", "leaves the root"],
    ["a/../../b", "leaves the root"],
    [5, "is not text"],
    [undefined, "is not text"],
    [`a/${"x".repeat(256)}`, "has a name of more than 255 bytes"],
    ["ö".repeat(128), "has a name of more than 255 bytes"],
    [Array.from({ length: 65 }, () => "d").join("/"), "is 65 levels deep: at most 64 are allowed"],
  ])("%j is refused", (path, problem) => {
    const check = () => checkedPath(path as string);
    expect(check).toThrow(FilesystemError);
    expect(check).toThrow(expect.objectContaining({ code: "EINVAL", path: String(path) }));
    expect(check).toThrow(problem);
  });

  test("may have names of 255 bytes and 64 levels", () => {
    expect(checkedPath("x".repeat(255))).toHaveLength(255);
    const deep = Array.from({ length: 64 }, () => "d").join("/");
    expect(checkedPath(deep)).toBe(deep);
  });
});

test("what is above a path is told nearest first, without the root", () => {
  expect(parentOf("a/b/c")).toBe("a/b");
  expect(parentOf("a")).toBe(".");
  expect(ancestorsOf("a/b/c")).toEqual(["a/b", "a"]);
  expect(ancestorsOf("a")).toEqual([]);
});
