import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";
import { createFolder, createFolderSync } from "./create-folder.ts";

/** Both forms, with the same result. */
const forms: readonly [string, typeof createFolder][] = [
  ["createFolder", createFolder],
  [
    "createFolderSync",
    async (path, mode) => {
      createFolderSync(path, mode);
      return undefined;
    },
  ],
];

describe.each(forms)("%s()", (_, create) => {
  test("creates missing parents, and accepts an existing folder or a link to one", async () => {
    const root = temporaryTree({});
    await create(join(root, "a", "b", "c"), 0o700);
    expect(statSync(join(root, "a", "b", "c")).mode & 0o777).toBe(0o700);
    await create(join(root, "a", "b", "c"));
    symlinkSync(join(root, "a"), join(root, "link"));
    await create(join(root, "link"));
    await create(join(root, "link", "d"));
    expect(existsSync(join(root, "a", "d"))).toBe(true);
  });

  test("can be called for the same folder at the same time", async () => {
    const path = join(temporaryTree({}), "a", "b");
    await Promise.all(Array.from({ length: 20 }, () => create(path)));
    expect(statSync(path).isDirectory()).toBe(true);
  });

  test("throws for a file, and for a path below a file", async () => {
    const file = join(temporaryTree({}), "file");
    writeFileSync(file, "");
    await expect(create(file)).rejects.toThrow("EEXIST");
    await expect(create(join(file, "a", "b"))).rejects.toThrow("ENOTDIR");
    await expect(create("")).rejects.toThrow("ENOENT");
  });

  test.skipIf(process.platform !== "linux")(
    "throws where the system reports that an existing parent is missing",
    async () => {
      await expect(create("/proc/wink-none")).rejects.toThrow("ENOENT");
      await expect(create("/proc/wink-none/a/b")).rejects.toThrow("ENOENT");
      await expect(create("/proc/self/fd/none")).rejects.toThrow("ENOENT");
    },
  );
});

test("createFolder() returns the first folder that it created", async () => {
  const root = temporaryTree({});
  mkdirSync(join(root, "a"));
  expect(await createFolder(join(root, "a", "b", "c"))).toBe(join(root, "a", "b"));
  expect(await createFolder(join(root, "a", "b", "c"))).toBeUndefined();
  expect(await createFolder(join(root, "a", "b", "d"))).toBe(join(root, "a", "b", "d"));
});
