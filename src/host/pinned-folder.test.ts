import { existsSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";

import {
  createInPinned,
  joinPath,
  PinnedFolder,
  pinNames,
  toDescriptorPath,
  toReadableName,
} from "./pinned-folder.ts";

const isLinux = existsSync("/proc/self/fd");
const toBytes = (path: string) => Buffer.from(path);

describe.each(isLinux ? [true, false] : [false])(
  "PinnedFolder with byDescriptor: %s",
  (byDescriptor) => {
    test("lists and inspects its entries", () => {
      const folder = temporaryTree({ "a/b": "1", é: "2" });
      using held = PinnedFolder.pin(toBytes(folder), { byDescriptor });
      expect(held.listNames().map(toReadableName).sort()).toEqual(["a", "é"]);
      expect(held.lstat("gone")).toBeNull();
      expect(held.stat().isDirectory()).toBe(true);
      using inner = held.enter("a");
      expect(inner.lstat("b")?.size).toBe(1n);
    });

    test("rejects a file, a symlink to a folder and a missing path", () => {
      const folder = temporaryTree({ file: "1", inner: null });
      symlinkSync("inner", join(folder, "link"));
      for (const name of ["file", "link"]) {
        const pin = () => PinnedFolder.pin(toBytes(join(folder, name)), { byDescriptor });
        expect(pin).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
      }
      const pin = () => PinnedFolder.pin(toBytes(join(folder, "gone")), { byDescriptor });
      expect(pin).toThrow(expect.objectContaining({ code: "ENOENT" }));
    });
  },
);

test.runIf(isLinux)(
  "PinnedFolder writes to the original folder after a symlink has replaced it",
  () => {
    const above = temporaryTree({ folder: null, elsewhere: null });
    const at = (name: string) => join(above, name);
    using pinned = PinnedFolder.pin(toBytes(at("folder")));
    renameSync(at("folder"), at("moved"));
    symlinkSync("elsewhere", at("folder"));
    writeFileSync(pinned.toPath("file"), "1");
    expect(existsSync(at("moved/file"))).toBe(true);
    expect(existsSync(at("elsewhere/file"))).toBe(false);
  },
);

test("PinnedFolder without a descriptor finds that another folder has replaced it", () => {
  const above = temporaryTree({ folder: null, other: null });
  const at = (name: string) => join(above, name);
  using pinned = PinnedFolder.pin(toBytes(at("folder")), { byDescriptor: false });
  pinned.checkInPlace();
  renameSync(at("folder"), at("moved"));
  renameSync(at("other"), at("folder"));
  expect(() => pinned.checkInPlace()).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
});

test("PinnedFolder.unlock() ignores a folder that is gone", () => {
  const above = temporaryTree({ folder: null });
  using pinned = PinnedFolder.pin(toBytes(join(above, "folder")), { byDescriptor: false });
  renameSync(join(above, "folder"), join(above, "moved"));
  pinned.unlock(0o700);
  expect(() => pinned.setMode(0o700)).toThrow("ENOENT");
});

test("joinPath() and toDescriptorPath() build paths", () => {
  expect(joinPath(".", "a")).toBe("a");
  expect(joinPath("a", "b")).toBe("a/b");
  const path = toBytes("/a");
  expect(toDescriptorPath(7, path)).toEqual(isLinux ? "/proc/self/fd/7" : path);
});

test("pinNames() creates missing folders on request, and fails with ELOOP at a symlink", () => {
  const root = temporaryTree({ "a/f": "" });
  symlinkSync("a", join(root, "link"));
  expect(() => pinNames(root, ["gone"])).toThrow(expect.objectContaining({ code: "ENOENT" }));
  expect(() => pinNames(root, ["link"])).toThrow(expect.objectContaining({ code: "ELOOP" }));
  expect(() => pinNames(root, ["a", "f"])).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
  const created: string[] = [];
  using folder = pinNames(root, ["a", "b", "c"], (above, name, index) => {
    createInPinned(above, name, 0o700);
    createInPinned(above, name); // does nothing
    created.push(`${index} ${name}`);
  });
  expect(created).toEqual(["1 b", "2 c"]);
  folder.setMode(0o750);
  expect(Number(folder.stat().mode) & 0o777).toBe(0o750);
  using inner = pinNames(root, ["a"]);
  expect(() => createInPinned(inner, "f/x")).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
});
