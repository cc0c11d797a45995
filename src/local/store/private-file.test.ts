import { spawnSync } from "node:child_process";
import { closeSync, fstatSync } from "node:fs";
import { link, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPrivateFile, readPrivateKey } from "./private-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-private-"));
  path = join(folder, "file");
});
afterEach(() => rm(folder, { recursive: true }));

const getMode = async () => (await stat(path)).mode & 0o777;

test("openPrivateFile() creates a file that only its owner may use", async () => {
  const descriptor = openPrivateFile(path);
  expect(fstatSync(descriptor).isFile()).toBe(true);
  closeSync(descriptor);
  expect(await getMode()).toBe(0o600);
});

test("openPrivateFile() makes an existing file private and keeps its content", async () => {
  await writeFile(path, "kept", { mode: 0o644 });
  closeSync(openPrivateFile(path));
  expect([await getMode(), await readFile(path, "utf8")]).toEqual([0o600, "kept"]);
});

test("openPrivateFile() rejects a symlink, a hard link, a pipe and a folder", async () => {
  const other = join(folder, "other");
  await writeFile(other, "other", { mode: 0o644 });
  await symlink(other, path);
  expect(() => openPrivateFile(path)).toThrow("ELOOP");
  await rm(path);
  await link(other, path);
  const message = `${path} is not a regular file with a single name`;
  expect(() => openPrivateFile(path)).toThrow(message);
  await rm(path);
  spawnSync("mkfifo", [path]);
  expect(() => openPrivateFile(path)).toThrow(message);
  expect(() => openPrivateFile(folder)).toThrow("EISDIR");
  expect((await stat(other)).mode & 0o777).toBe(0o644);
});

test("readPrivateKey() stores the key once and returns it from then on", () => {
  const key = readPrivateKey(path, () => Buffer.alloc(32, 7));
  const again = readPrivateKey(path, () => Buffer.alloc(32, 8));
  expect([...key]).toEqual(new Array(32).fill(7));
  expect(again).toEqual(key);
});
