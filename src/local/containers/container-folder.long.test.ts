import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTemporaryDataDir, startLocalStorage } from "../../../tests/support/local-storage.ts";
import { openInFolder, removeInFolder, searchContainerFolder } from "./container-folder.ts";
import { removeUntrustedFolder } from "./remove-untrusted-folder.ts";

const ALL = { limit: 100, order: "asc" } as const;

async function listNames(root: string, max = 10_000): Promise<readonly string[]> {
  return (await searchContainerFolder(root, max)).files.map(({ name }) => name).sort();
}

describe("A container folder", () => {
  it("lists only regular files, without following links or waiting on pipes", async () => {
    using folder = createTemporaryDataDir();
    const root = folder.path;
    writeFileSync(join(root, "real"), "x");
    linkSync(join(root, "real"), join(root, "hard"));
    symlinkSync("/etc/passwd", join(root, "link"));
    symlinkSync("/etc", join(root, "etc"));
    symlinkSync(".", join(root, "loop"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await listNames(root)).toEqual(["hard", "real"]);
    for (const name of ["link", "etc/passwd", "loop/real", "pipe", "none", "real/x", ".."]) {
      expect(await openInFolder(root, name)).toBeNull();
      expect(await removeInFolder(root, name)).toBe(false);
    }
    expect(existsSync("/etc/passwd")).toBe(true);
    expect(await removeInFolder(root, "real")).toBe(true);
  });

  it("is searched up to the limit of files, and the result is marked as partial", async () => {
    using folder = createTemporaryDataDir();
    const root = folder.path;
    for (let index = 0; index < 1200; index++) writeFileSync(join(root, `f${index}`), "");
    expect(await searchContainerFolder(root, 2000)).toMatchObject({ isPartial: false });
    expect((await searchContainerFolder(root, 2000)).files).toHaveLength(1200);
    const some = await searchContainerFolder(root, 1000);
    expect([some.files.length, some.isPartial]).toEqual([1000, true]);
    for (let index = 0; index < 30; index++)
      mkdirSync(join(root, "empty", `d${index}`), { recursive: true });
    expect(await searchContainerFolder(join(root, "empty"), 10)).toEqual({
      files: [],
      isPartial: true,
      isEmpty: false,
    });
    expect(await searchContainerFolder(join(root, "empty", "d1"), 10)).toMatchObject({
      isEmpty: true,
    });
  });

  it("lists the nearest files first if there are too many", async () => {
    using folder = createTemporaryDataDir();
    const root = folder.path;
    mkdirSync(join(root, "a"));
    for (let index = 0; index < 50; index++) writeFileSync(join(root, "a", `f${index}`), "");
    for (const name of ["b", "z"]) writeFileSync(join(root, name), "");
    const { files, isPartial } = await searchContainerFolder(root, 40);
    const nearest = files.map(({ name }) => name).filter((name) => !name.includes("/"));
    expect([nearest, files.length, isPartial]).toEqual([["b", "z"], 40, true]);
  });

  it("is not searched below 32 levels", async () => {
    using folder = createTemporaryDataDir();
    const deep = join(folder.path, ...Array.from({ length: 40 }, () => "d"));
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, "x"), "");
    writeFileSync(join(folder.path, "d", "y"), "");
    const { files, isPartial } = await searchContainerFolder(folder.path, 100);
    expect([files.map(({ name }) => name), isPartial]).toEqual([["d/y"], true]);
  });

  it("may be missing, but other errors are reported", async () => {
    using folder = createTemporaryDataDir();
    expect(await listNames(join(folder.path, "none"))).toEqual([]);
    await expect(listNames("a\0b")).rejects.toThrow("without null bytes");
    await expect(openInFolder("a\0b", "x")).rejects.toThrow("without null bytes");
  });

  it("is removed even if it cannot be entered or is too deep for a path", async () => {
    using folder = createTemporaryDataDir();
    const closed = join(folder.path, "closed");
    mkdirSync(join(closed, "a", "b"), { recursive: true });
    chmodSync(join(closed, "a"), 0o000);
    await removeUntrustedFolder(closed);
    const deep = join(folder.path, "deep");
    mkdirSync(deep);
    const code =
      "import os, sys\nos.chdir(sys.argv[1])\nfor i in range(600):\n open('f', 'w'); os.mkdir('d' * 20); os.chdir('d' * 20)";
    execFileSync("python3", ["-c", code, deep]);
    await removeUntrustedFolder(deep);
    await removeUntrustedFolder(join(folder.path, "none"));
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe("A container file that code replaced with a link", () => {
  it("is not a file anymore: its target is not listed, sent or removed", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    const root = join(api.dataDir, "containers", id, "data");
    const outside = join(api.dataDir, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "x"), "secret");
    mkdirSync(join(root, "sub"));
    writeFileSync(join(root, "sub", "x"), "mine");
    writeFileSync(join(root, "flat"), "mine");
    const { data } = await api.containers.listFiles(id, ALL);
    expect(data).toHaveLength(2);

    renameSync(join(root, "sub"), join(root, "moved"));
    symlinkSync(outside, join(root, "sub"));
    rmSync(join(root, "flat"));
    symlinkSync("/etc/passwd", join(root, "flat"));
    for (const file of data) {
      const url = `${api.url}/containers/${id}/files/${file.id}`;
      expect((await fetch(url)).status).toBe(404);
      expect((await fetch(`${url}/content`)).status).toBe(404);
      expect((await fetch(url, { method: "DELETE" })).status).toBe(404);
    }
    expect((await api.containers.listFiles(id, ALL)).data.map(({ path }) => path)).toEqual([
      "/mnt/data/moved/x",
    ]);
    await api.containers.delete(id);
    expect(existsSync(join(outside, "x"))).toBe(true);
    expect(existsSync("/etc/passwd")).toBe(true);
  });

  it("limits the list if there are too many files", async () => {
    await using api = await startLocalStorage({ limits: { maxListedFiles: 5 } });
    const { id } = await api.containers.create({ name: "a" });
    const root = join(api.dataDir, "containers", id, "data");
    for (let index = 0; index < 50; index++) writeFileSync(join(root, `f${index}`), "");
    const first = await api.containers.listFiles(id, ALL);
    expect(first.data).toHaveLength(5);
    expect(await api.containers.listFiles(id, ALL)).toEqual(first);
  });
});
