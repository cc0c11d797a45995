import { chown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLockFolder, openLockFolder, useLockFolderSync } from "./lock-folder.ts";

let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "wink-lock-folder-"));
  folder = join(root, "new", "a.lock");
});
afterEach(() => rm(root, { recursive: true }));

const getMode = async (path: string) => (await stat(path)).mode & 0o777;

test("createLockFolder() creates private folders, and opens an existing one", async () => {
  await using _first = await createLockFolder(folder);
  await using second = await createLockFolder(folder);
  expect([await getMode(folder), await getMode(join(root, "new"))]).toEqual([0o700, 0o700]);
  await writeFile(join(second.path, "file"), "");
  expect(await readdir(folder)).toEqual(["file"]);
});

test("createLockFolder() throws if the name is too long", async () => {
  await expect(createLockFolder(join(root, "x".repeat(300)))).rejects.toThrow("ENAMETOOLONG");
});

test("openLockFolder() refuses a symlink to a folder, and a file", async () => {
  const message = "is a symlink or a file, not a folder";
  await symlink(root, join(root, "link"));
  await writeFile(join(root, "file"), "");
  await expect(openLockFolder(join(root, "link"))).rejects.toThrow(message);
  await expect(openLockFolder(join(root, "file"))).rejects.toThrow(message);
  await expect(openLockFolder(join(root, "missing"))).rejects.toThrow("ENOENT");
});

test.skipIf(process.getuid?.() !== 0)(
  "openLockFolder() refuses a folder of another user",
  async () => {
    const lock = join(root, "a.lock");
    await mkdir(lock);
    await chown(lock, 65533, 65533);
    const message = `its lock ${lock} belongs to another user (uid 65533)`;
    await expect(openLockFolder(lock)).rejects.toThrow(message);
  },
);

test("useLockFolderSync() passes on what is thrown, and refuses a symlink", async () => {
  await symlink(root, join(root, "link"));
  expect(() => useLockFolderSync(join(root, "link"), () => {})).toThrow("ENOTDIR");
  const fail = () => {
    throw new Error("inside");
  };
  expect(() => useLockFolderSync(root, fail)).toThrow("inside");
});
