import { describe, expect, test } from "vitest";
import { FilesystemError, WorkspaceSecurityError } from "../../../base/filesystem-error.ts";
import { TarPaths } from "./tar-paths.ts";

const addFile = (name: string) => new TarPaths().addFile(name);

describe("TarPaths.addFile()", () => {
  test.each([
    ["a/b", "a/b"],
    ["./a", "a"],
    ["a/./b", "a/b"],
    ["...", "..."],
    ["..a/b..", "..a/b.."],
    ["a\\b", "a\\b"],
    ["c:d", "c:d"],
    ["é😀", "é😀"],
  ])("accepts a path that stays inside the folder: %j", (name, path) => {
    expect(addFile(name)).toBe(path);
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
  ])("rejects a path that leads out of the folder on any system: %j", (name) => {
    expect(() => addFile(name)).toThrow(WorkspaceSecurityError);
    expect(() => addFile(name)).toThrow(
      `The archive's entry ${JSON.stringify(name)} leads out of its folder`,
    );
  });

  test.each(["a\nb", "a\0b", "\x1b[2J", "a\x7f", "a\u009f"])(
    "rejects a path with a control character: %j",
    (name) => {
      expect(() => addFile(name)).toThrow(FilesystemError);
      expect(() => addFile(name)).toThrow("contains a control character. Rename it.");
    },
  );

  test.each([
    ["", "is empty"],
    ["a//b", "has an empty segment"],
    ["a/", "has an empty segment"],
    ["x".repeat(256), "longer than 255 bytes"],
    [`${"a/".repeat(64)}b`, "levels deep"],
  ])("rejects an invalid path: %.8s", (name, problem) => {
    expect(() => addFile(name)).toThrow(FilesystemError);
    expect(() => addFile(name)).toThrow(problem);
  });
});

describe("TarPaths with two entries", () => {
  const addAll =
    (...names: readonly string[]) =>
    () => {
      const paths = new TarPaths();
      for (const name of names) {
        if (name.endsWith("/")) paths.addFolder(name);
        else paths.addFile(name);
      }
    };

  test("accepts repeated and shared folders", () => {
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
  ])("rejects paths that collide: %j and %j", (one, other) => {
    expect(addAll(one, other)).toThrow("is in the archive twice. Create the archive again.");
  });

  test("rejects folders that lead out of the folder", () => {
    expect(addAll("../")).toThrow(WorkspaceSecurityError);
    expect(addAll("/")).toThrow(FilesystemError);
    expect(addAll("//")).toThrow(WorkspaceSecurityError);
    expect(addAll("a//")).toThrow("has an empty segment");
  });
});
