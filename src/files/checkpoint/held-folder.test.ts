import { existsSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { ROOT } from "../path.ts";
import { HeldFolder, pathIn, placeOfOpen, readable } from "./held-folder.ts";

const isLinux = existsSync("/proc/self/fd");
const bytes = (path: string) => Buffer.from(path);

describe.each(isLinux ? [true, false] : [false])("held by descriptor: %s", (byDescriptor) => {
  test("a folder shows what is in it", () => {
    const folder = temporaryTree({ "a/b": "1", é: "2" });
    using held = HeldFolder.hold(bytes(folder), { byDescriptor });
    expect(held.names().map(readable).sort()).toEqual(["a", "é"]);
    expect(held.look("gone")).toBeNull();
    expect(held.stats().isDirectory()).toBe(true);
    using inner = held.enter("a");
    expect(inner.look("b")?.size).toBe(1n);
  });

  test("neither a file, a link to a folder nor what is missing can be held", () => {
    const folder = temporaryTree({ file: "1", inner: null });
    symlinkSync("inner", join(folder, "link"));
    for (const name of ["file", "link"]) {
      const hold = () => HeldFolder.hold(bytes(join(folder, name)), { byDescriptor });
      expect(hold).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
    }
    const hold = () => HeldFolder.hold(bytes(join(folder, "gone")), { byDescriptor });
    expect(hold).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });
});

test.runIf(isLinux)("what is done in a folder is done there, though a link took its place", () => {
  const above = temporaryTree({ folder: null, elsewhere: null });
  const at = (name: string) => join(above, name);
  using held = HeldFolder.hold(bytes(at("folder")));
  renameSync(at("folder"), at("moved"));
  symlinkSync("elsewhere", at("folder"));
  writeFileSync(held.at("file"), "1");
  expect(existsSync(at("moved/file"))).toBe(true);
  expect(existsSync(at("elsewhere/file"))).toBe(false);
});

test("places and paths", () => {
  expect(pathIn(ROOT, "a")).toBe("a");
  expect(pathIn("a", "b")).toBe("a/b");
  const path = bytes("/a");
  expect(placeOfOpen(7, path)).toEqual(isLinux ? "/proc/self/fd/7" : path);
});
