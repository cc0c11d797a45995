import { spawnSync } from "node:child_process";
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isForeign } from "../host/is-foreign.ts";
import { openSessionFile, type SessionFileAccess } from "./open-session-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-open-"));
  path = join(folder, "a.jsonl");
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const isRoot = process.getuid?.() === 0;
const accesses: readonly SessionFileAccess[] = ["read", "change", "append"];
const getMode = async () => (await stat(path)).mode & 0o777;

describe("openSessionFile()", () => {
  test("creates a private file only to append to it", async () => {
    await expect(openSessionFile(path, "read")).rejects.toThrow("ENOENT");
    await expect(openSessionFile(path, "change")).rejects.toThrow("ENOENT");
    await (await openSessionFile(path, "append")).close();
    expect(await getMode()).toBe(0o600);
  });

  test("makes a file private when it is changed, and not when it is read", async () => {
    await writeFile(path, "");
    await chmod(path, 0o644);
    await (await openSessionFile(path, "read")).close();
    expect(await getMode()).toBe(0o644);
    await (await openSessionFile(path, "change")).close();
    expect(await getMode()).toBe(0o600);
  });

  test("continues where the disk has no modes", async () => {
    await writeFile(path, "");
    await chmod(path, 0o644);
    const file = await openSessionFile(path, "read");
    vi.spyOn(Object.getPrototypeOf(file), "chmod").mockRejectedValue(new Error("ENOTSUP"));
    await file.close();
    await (await openSessionFile(path, "append")).close();
    expect(await getMode()).toBe(0o644);
  });

  test.each(accesses)("refuses a symlink, a pipe and a folder to %s", async (access) => {
    await writeFile(join(folder, "other"), "kept");
    await symlink(join(folder, "other"), path);
    await expect(openSessionFile(path, access)).rejects.toThrow("it is a symlink, not a file");
    await rm(path);
    spawnSync("mkfifo", [path]);
    await expect(openSessionFile(path, access)).rejects.toThrow(/it is a pipe.*, not a file/);
    await rm(path);
    await mkdir(path);
    await expect(openSessionFile(path, access)).rejects.toThrow("it is a folder, not a file");
    expect(await readFile(join(folder, "other"), "utf8")).toBe("kept");
  });

  test.skipIf(!isRoot)("refuses a device", async () => {
    spawnSync("mknod", [path, "c", "1", "5"]);
    await expect(openSessionFile(path, "read")).rejects.toThrow("it is a device, not a file");
  });

  test("refuses to change a file with several names, and reads it", async () => {
    await writeFile(path, "");
    await link(path, join(folder, "second"));
    await (await openSessionFile(path, "read")).close();
    await expect(openSessionFile(path, "append")).rejects.toMatchObject({
      message: "it has 2 names (hard links)",
      remedy: "Replace it with a separate copy, so that no other file changes with it.",
    });
  });

  test.skipIf(!isRoot)("refuses a file of another user", async () => {
    await writeFile(path, "");
    await chown(path, 65533, 65533);
    const message = "it belongs to another user (uid 65533)";
    await expect(openSessionFile(path, "read")).rejects.toThrow(message);
  });
});

describe("isForeign()", () => {
  test("is false for files of this user, of root, and of the folder's owner", async () => {
    await writeFile(path, "");
    const stats = await lstat(path);
    expect(await isForeign(path, stats)).toBe(false);
    vi.spyOn(process, "geteuid").mockReturnValue(12345);
    expect(await isForeign(path, Object.assign(stats, { uid: 0 }))).toBe(false);
    const owner = (await stat(folder)).uid;
    expect(await isForeign(path, Object.assign(stats, { uid: owner }))).toBe(false);
  });

  test("is true for the files of anyone else", async () => {
    await writeFile(path, "");
    const stats = Object.assign(await lstat(path), { uid: 54321 });
    expect(await isForeign(path, stats)).toBe(true);
  });

  test("is false on systems without user ids", async () => {
    await writeFile(path, "");
    const stats = Object.assign(await lstat(path), { uid: 54321 });
    const { geteuid } = process;
    Object.assign(process, { geteuid: undefined });
    expect(await isForeign(path, stats)).toBe(false);
    Object.assign(process, { geteuid });
  });
});
