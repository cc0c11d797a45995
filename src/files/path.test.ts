import { describe, expect, test } from "vitest";
import { FilesystemError } from "../base/filesystem-error.ts";
import { getParent, listAncestors, normalizePath } from "./path.ts";

describe("path normalization", () => {
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
  ])("converts %j to %j", (path, spelling) => {
    expect(normalizePath(path)).toBe(spelling);
  });

  test.each([
    ["", 'is empty. Use "." for the root.'],
    ["a\0b", "contains a NUL character"],
    ["a\ud800b", "contains a lone surrogate"],
    ["/a", "is absolute. Use a path relative to the root."],
    ["/", "is absolute"],
    ["a//b", "has an empty segment. Use single slashes, as in a/b."],
    ["a/", "has an empty segment"],
    ["..", "leaves the root"],
    ["a/../../b", "leaves the root"],
    [5, "is not a string"],
    [undefined, "is not a string"],
    [`a/${"x".repeat(256)}`, "has a name longer than 255 bytes. Shorten it."],
    ["ö".repeat(128), "has a name longer than 255 bytes. Shorten it."],
    [Array.from({ length: 65 }, () => "d").join("/"), "is 65 levels deep. The maximum is 64."],
  ])("rejects %j", (path, problem) => {
    const check = () => normalizePath(path as string);
    expect(check).toThrow(FilesystemError);
    expect(check).toThrow(expect.objectContaining({ code: "EINVAL", path: String(path) }));
    expect(check).toThrow(problem);
  });

  test("accepts names of 255 bytes and 64 levels", () => {
    expect(normalizePath("x".repeat(255))).toHaveLength(255);
    const deep = Array.from({ length: 64 }, () => "d").join("/");
    expect(normalizePath(deep)).toBe(deep);
  });
});

test("ancestors are listed nearest first, without the root", () => {
  expect(getParent("a/b/c")).toBe("a/b");
  expect(getParent("a")).toBe(".");
  expect(listAncestors("a/b/c")).toEqual(["a/b", "a"]);
  expect(listAncestors("a")).toEqual([]);
});
