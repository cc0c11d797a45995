import { realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { findPlace } from "./host-place.ts";
import { ObstructedError, SyncError } from "./sync-failure.ts";

function createFolder() {
  const root = realpathSync(temporaryTree({ "a.txt": "one", "folder/b.txt": "two" }));
  for (const [name, target] of [
    ["to-file", "folder/b.txt"],
    ["to-new", "folder/deep/new.txt"],
    ["to-root", "."],
    ["below-file", "a.txt/c.txt"],
    ["outside", "../outside.txt"],
  ] as const) {
    symlinkSync(target, join(root, name));
  }
  return root;
}

test.each([
  ["a.txt", { folder: "", missing: [], name: "a.txt", isLink: false }],
  ["new/deep/c.txt", { folder: "", missing: ["new", "deep"], name: "c.txt", isLink: false }],
  ["to-file", { folder: "folder", missing: [], name: "b.txt", isLink: true }],
  ["to-new", { folder: "folder", missing: ["deep"], name: "new.txt", isLink: true }],
])("findPlace() finds %s", async (path, place) => {
  const root = createFolder();
  expect(await findPlace(root, path)).toEqual({ ...place, folder: join(root, place.folder) });
});

test.each([
  ["a.txt/c.txt", ObstructedError],
  ["to-root", ObstructedError],
  ["below-file", ObstructedError],
  ["outside", SyncError],
  ["outside/c.txt", SyncError],
])("findPlace() rejects %s", async (path, error) => {
  await expect(findPlace(createFolder(), path)).rejects.toThrow(error);
});
