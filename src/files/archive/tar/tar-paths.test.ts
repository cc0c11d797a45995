import { describe, expect, test } from "vitest";
import { FilesystemError, WorkspaceSecurityError } from "../../../base/filesystem-error.ts";
import { TarPaths } from "./tar-paths.ts";

const add = (name: string) => new TarPaths().addFile(name);

describe("a path in an archive", () => {
  test.each([
    ["a/b", "a/b"],
    ["./a", "a"],
    ["a/./b", "a/b"],
    ["...", "..."],
    ["..a/b..", "..a/b.."],
    ["a\\b", "a\\b"],
    ["c:d", "c:d"],
    ["é😀", "é😀"],
  ])("is taken if it stays inside: %j", (name, path) => {
    expect(add(name)).toBe(path);
  });

  test.each([
    "/a",
    "..",
    "../a",
    "a/..",
    "a/../b",
    "\\a",
    "..\\a",
    "a\\..\\b",
    "C:\\a",
    "//host/a",
  ])("is refused if it leads out, or would elsewhere: %j", (name) => {
    expect(() => add(name)).toThrow(WorkspaceSecurityError);
    expect(() => add(name)).toThrow(
      `The archive's entry ${JSON.stringify(name)} leads out of its folder`,
    );
  });

  test.each(["a\nb", "a\0b", "\x1b[2J", "a\x7f", "a\u009f"])(
    "is refused if it holds a control character: %j",
    (name) => {
      expect(() => add(name)).toThrow(FilesystemError);
      expect(() => add(name)).toThrow("holds a control character: rename it there");
    },
  );

  test.each([
    ["", "is empty"],
    ["a//b", "has an empty segment"],
    ["a/", "has an empty segment"],
    ["x".repeat(256), "more than 255 bytes"],
    [`${"a/".repeat(64)}b`, "levels deep"],
  ])("is refused if no path is like that: %.8s", (name, problem) => {
    expect(() => add(name)).toThrow(FilesystemError);
    expect(() => add(name)).toThrow(problem);
  });
});

describe("two entries", () => {
  const addAll =
    (...names: readonly string[]) =>
    () => {
      const paths = new TarPaths();
      for (const name of names) {
        if (name.endsWith("/")) paths.addFolder(name);
        else paths.addFile(name);
      }
    };

  test("may share folders, which may be told any number of times", () => {
    expect(addAll("./", "a/", "a/", "a/b/", "a/b/c", "a/d", "a/")).not.toThrow();
    expect(() => new TarPaths().addFolder(".")).not.toThrow();
  });

  test.each([
    ["a", "a"],
    ["a", "./a"],
    ["a", "a/b"],
    ["a/b", "a"],
    ["a", "a/"],
    ["a/", "a"],
    ["./", "."],
  ])("cannot both be there: %j and %j", (one, other) => {
    expect(addAll(one, other)).toThrow("is in the archive twice: make the archive again");
  });

  test("that are folders lead out no more than files do", () => {
    expect(addAll("../")).toThrow(WorkspaceSecurityError);
    expect(addAll("/")).toThrow(FilesystemError);
    expect(addAll("//")).toThrow(WorkspaceSecurityError);
    expect(addAll("a//")).toThrow("has an empty segment");
  });
});
