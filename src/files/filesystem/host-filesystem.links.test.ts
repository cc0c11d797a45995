import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { HostFilesystem } from "./host-filesystem.ts";

/** Creates a root with a file and a directory, next to folders that must stay out of reach. */
async function createRoot() {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), "wink-links-")));
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
  for (const directory of ["root/dir", "outside", "root-twin"]) {
    await mkdir(join(scratch, directory), { recursive: true });
  }
  for (const file of ["root/file", "root/dir/f", "outside/f", "root-twin/f"]) {
    await writeFile(join(scratch, file), `in ${file}`);
  }
  const root = join(scratch, "root");
  const filesystem = new HostFilesystem(root);
  onTestFinished(() => filesystem[Symbol.asyncDispose]());
  return { scratch, root, filesystem };
}

/** Asserts that nothing outside the root has changed. */
async function expectUntouched(scratch: string): Promise<void> {
  expect((await readdir(scratch)).sort()).toEqual(["outside", "root", "root-twin"]);
  for (const directory of ["outside", "root-twin"]) {
    expect(await readdir(join(scratch, directory))).toEqual(["f"]);
    expect(await readFile(join(scratch, directory, "f"), "utf8")).toBe(`in ${directory}/f`);
  }
}

describe("HostFilesystem and a symlink that leads out of the root", () => {
  test.each([
    ["to a directory", "../outside", "/f"],
    ["to a directory, absolutely", "OUTSIDE", "/f"],
    ["to a file", "../outside/f", ""],
    ["to a missing file", "../outside/gone", ""],
    ["to a missing file in missing directories", "../outside/gone/x/y", ""],
    ["to a directory whose name starts with the root's name", "../root-twin", "/f"],
    ["to a parent of the root", "..", "/outside/f"],
    ["to /", "/", "/etc/passwd"],
    ["to the root of a process", "/proc/self/root", "/etc/passwd"],
    ["to an open file of a process", "/proc/self/fd/0", ""],
    ["out and in and out again", "../root/../outside", "/f"],
    ["through a missing directory", "../gone/../root/file", ""],
    ["through another link", "hop", "/f"],
    ["in a circle", "bad", ""],
    ["in a circle of two", "circle", ""],
  ])("rejects it in every operation: %s", async (_what, target, below) => {
    const { scratch, root, filesystem } = await createRoot();
    await symlink("../outside", join(root, "hop"));
    await symlink("bad", join(root, "circle"));
    await symlink(target.replace("OUTSIDE", join(scratch, "outside")), join(root, "bad"));
    for (const path of [`bad${below}`, `bad${below}/new`]) {
      const calls = [
        () => filesystem.read(path),
        () => filesystem.readText(path),
        () => filesystem.readBytes(path),
        () => filesystem.write(path, Uint8Array.of(1)),
        () => filesystem.writeText(path, "x"),
        () => filesystem.delete(path),
        () => filesystem.stat(path),
        () => filesystem.listDir(path),
        () => filesystem.mkdir(path),
      ];
      for (const call of calls)
        await expect(call()).rejects.toMatchObject({ code: "EACCES", path });
      for (const has of ["exists", "isFile", "isDir"] as const) {
        expect(await filesystem[has](path)).toBe(false);
      }
    }
    expect(await filesystem.glob("*")).toEqual(["dir/f", "file"]);
    expect(await filesystem.grep("in outside|root:")).toEqual([]);
    expect(await filesystem.listDir(".")).toContain("bad");
    await expectUntouched(scratch);
  });

  test("rejects it as soon as it replaces a directory", async () => {
    const { scratch, root, filesystem } = await createRoot();
    expect(await filesystem.readText("dir/f")).toBe("in root/dir/f");
    await rename(join(root, "dir"), join(root, "moved"));
    await symlink("../outside", join(root, "dir"));
    await expect(filesystem.readText("dir/f")).rejects.toMatchObject({ code: "EACCES" });
    await expect(filesystem.writeText("dir/f", "x")).rejects.toMatchObject({ code: "EACCES" });
    await expect(filesystem.delete("dir/f")).rejects.toMatchObject({ code: "EACCES" });
    await rm(join(root, "dir"));
    await rename(join(root, "moved"), join(root, "dir"));
    expect(await filesystem.readText("dir/f")).toBe("in root/dir/f");
    await expectUntouched(scratch);
  });

  test("does not follow it on restore", async () => {
    const { scratch, root, filesystem } = await createRoot();
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("dir/f", "changed");
    await filesystem.writeText("dir/new/f", "new");
    await filesystem.mkdir("dir/sub");
    await rm(join(root, "dir"), { recursive: true });
    await symlink("../outside", join(root, "dir"));
    await mkdir(join(scratch, "outside/sub"));
    await mkdir(join(scratch, "outside/new"));
    await expect(filesystem.restore(snapshot)).rejects.toMatchObject({ code: "EACCES" });
    expect((await readdir(join(scratch, "outside"))).sort()).toEqual(["f", "new", "sub"]);
    expect(await readFile(join(scratch, "outside/f"), "utf8")).toBe("in outside/f");
    await rm(join(root, "dir"));
    await filesystem.restore(snapshot);
    expect(await filesystem.readText("dir/f")).toBe("in root/dir/f");
    expect(await filesystem.listDir("dir")).toEqual(["f"]);
  });
});

describe("HostFilesystem and a symlink that stays inside the root", () => {
  test.each([
    ["a file", "file", "in root/file"],
    ["a file in another directory", "dir/f", "in root/dir/f"],
    ["a file, out of the root and back", "../root/file", "in root/file"],
    ["a file, by its absolute path", "ROOT/file", "in root/file"],
    ["a link to a file", "hop", "in root/file"],
  ])("reads and writes through it: to %s", async (_what, target, text) => {
    const { scratch, root, filesystem } = await createRoot();
    await symlink("file", join(root, "hop"));
    await symlink(target.replace("ROOT", root), join(root, "link"));
    expect(await filesystem.readText("link")).toBe(text);
    expect(await filesystem.isFile("link")).toBe(true);
    expect(await filesystem.glob("link")).toEqual(["link"]);
    expect((await filesystem.stat("link")).sizeBytes).toBe(text.length);
    await filesystem.writeText("link", "new");
    expect((await lstat(join(root, "link"))).isSymbolicLink()).toBe(true);
    expect(await readFile(await realpath(join(root, "link")), "utf8")).toBe("new");
    await expectUntouched(scratch);
  });

  test("opens files through a linked directory, but lists them only once", async () => {
    const { root, filesystem } = await createRoot();
    await symlink("dir", join(root, "link"));
    await symlink(".", join(root, "dir/again"));
    expect(await filesystem.readText("link/f")).toBe("in root/dir/f");
    expect(await filesystem.isDir("link")).toBe(true);
    expect(await filesystem.listDir("link/again/again")).toEqual(["again", "f"]);
    expect(await filesystem.glob("*")).toEqual(["dir/f", "file"]);
    await filesystem.writeText("link/new", "x");
    expect(await filesystem.readText("dir/new")).toBe("x");
    await filesystem.delete("link/again/f");
    expect(await filesystem.exists("dir/f")).toBe(false);
  });

  test("creates the missing target on write", async () => {
    const { root, filesystem } = await createRoot();
    await symlink("dir/later/f", join(root, "link"));
    expect([await filesystem.exists("link"), await filesystem.glob("link")]).toEqual([false, []]);
    await expect(filesystem.readText("link")).rejects.toMatchObject({ code: "ENOENT" });
    await filesystem.writeText("link", "x");
    expect(await filesystem.readText("dir/later/f")).toBe("x");
    expect(await readlink(join(root, "link"))).toBe("dir/later/f");
  });

  test("fails with ENOTDIR if it leads below a file", async () => {
    const { root, filesystem } = await createRoot();
    await symlink("file/x", join(root, "link"));
    await expect(filesystem.readText("link")).rejects.toMatchObject({ code: "ENOTDIR" });
    expect(await filesystem.exists("link")).toBe(false);
  });

  test.each(["file", "dir", "gone"])(
    "deletes only the link to %s, and restores it",
    async (target) => {
      const { root, filesystem } = await createRoot();
      await symlink(target, join(root, "link"));
      const snapshot = await filesystem.snapshot();
      await filesystem.delete("link");
      expect(await filesystem.listDir(".")).toEqual(["dir", "file"]);
      await filesystem.writeText("link", "a file now");
      await filesystem.restore(snapshot);
      expect(await readlink(join(root, "link"))).toBe(target);
      expect(await filesystem.readText("dir/f")).toBe("in root/dir/f");
    },
  );

  test("lets mkdir treat it as the file or directory it leads to", async () => {
    const { root, filesystem } = await createRoot();
    await symlink("file", join(root, "to-file"));
    await symlink("dir", join(root, "to-dir"));
    await filesystem.mkdir("to-dir/new");
    await expect(filesystem.mkdir("to-file")).rejects.toMatchObject({ code: "EEXIST" });
    expect(await filesystem.isDir("dir/new")).toBe(true);
  });
});
