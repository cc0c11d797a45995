import { execFileSync } from "node:child_process";
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { HostFilesystem } from "./host-filesystem.ts";

async function emptyRoot(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "wink-host-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return root;
}

describe("a root", () => {
  test("that is missing or no directory is refused when the file system is made", async () => {
    const root = await emptyRoot();
    await writeFile(join(root, "file"), "");
    expect(() => new HostFilesystem(join(root, "gone"))).toThrow(/^ENOENT: .*gone" does not exist/);
    expect(() => new HostFilesystem(join(root, "file"))).toThrow(/^ENOTDIR: .*file" is not a dir/);
    expect(() => new HostFilesystem(join(root, "file/x"))).toThrow(/^ENOTDIR: /);
    expect(() => new HostFilesystem("\0")).toThrow(/^EACCES: /);
    expect(() => new HostFilesystem(undefined as never)).toThrow(/^EACCES: "undefined" /);
  });

  test("is the directory that its name led to then, not where it leads later", async () => {
    const scratch = await emptyRoot();
    for (const name of ["one", "two"]) await mkdir(join(scratch, name));
    await symlink("one", join(scratch, "name"));
    const filesystem = new HostFilesystem(join(scratch, "name"));
    await rm(join(scratch, "name"));
    await symlink("two", join(scratch, "name"));
    await filesystem.writeText("f", "x");
    expect([await readdir(join(scratch, "one")), await readdir(join(scratch, "two"))]).toEqual([
      ["f"],
      [],
    ]);
  });

  test("that is gone is not made again", async () => {
    const root = join(await emptyRoot(), "root");
    await mkdir(root);
    const filesystem = new HostFilesystem(root);
    await rm(root, { recursive: true });
    await expect(filesystem.readText("f")).rejects.toThrow("the root is gone");
    await expect(filesystem.writeText("f", "x")).rejects.toMatchObject({ code: "ENOENT" });
    expect([await filesystem.exists("."), await filesystem.glob("*")]).toEqual([false, []]);
  });

  test("that became a link to elsewhere is left alone", async () => {
    const scratch = await emptyRoot();
    for (const name of ["root", "other"]) await mkdir(join(scratch, name));
    await writeFile(join(scratch, "other/f"), "secret");
    const filesystem = new HostFilesystem(join(scratch, "root"));
    await rm(join(scratch, "root"), { recursive: true });
    await symlink("other", join(scratch, "root"));
    for (const path of ["f", "new"]) {
      await expect(filesystem.readText(path)).rejects.toMatchObject({ code: "EACCES" });
      await expect(filesystem.writeText(path, "x")).rejects.toMatchObject({ code: "EACCES" });
    }
    expect(await readFile(join(scratch, "other/f"), "utf8")).toBe("secret");
  });
});

describe("a write", () => {
  test("keeps the mode of the file that it replaces, and leaves nothing else behind", async () => {
    const root = await emptyRoot();
    const filesystem = new HostFilesystem(root);
    for (const mode of [0o600, 0o640, 0o755, 0o777]) {
      await writeFile(join(root, "f"), "old");
      await chmod(join(root, "f"), mode);
      await filesystem.writeText("f", "new");
      expect((await stat(join(root, "f"))).mode & 0o7777).toBe(mode);
    }
    expect(await readdir(root)).toEqual(["f"]);
  });

  test("of a new file has the usual mode", async () => {
    const root = await emptyRoot();
    await new HostFilesystem(root).writeText("d/f", "x");
    expect((await stat(join(root, "d/f"))).mode & 0o777).toBe(0o666 & ~process.umask());
    expect((await stat(join(root, "d"))).mode & 0o777).toBe(0o777 & ~process.umask());
  });

  test("replaces one name of a file and leaves its other names as they are", async () => {
    const root = await emptyRoot();
    await writeFile(join(root, "f"), "old");
    await link(join(root, "f"), join(root, "g"));
    const filesystem = new HostFilesystem(root);
    await filesystem.writeText("f", "new");
    expect([await filesystem.readText("f"), await filesystem.readText("g")]).toEqual([
      "new",
      "old",
    ]);
  });

  test("that fails in the end takes its directories away again", async () => {
    const root = await emptyRoot();
    await mkdir(join(root, "d"));
    const filesystem = new HostFilesystem(root);
    const long = Array.from({ length: 30 }, () => "x".repeat(200)).join("/");
    await expect(filesystem.writeText(`d/${long}`, "x")).rejects.toMatchObject({ code: "EINVAL" });
    expect(await readdir(join(root, "d"))).toEqual([]);
  });

  test("takes the bytes as they were when it was called", async () => {
    const filesystem = new HostFilesystem(await emptyRoot());
    const bytes = Uint8Array.of(1, 2, 3);
    const written = filesystem.write("f", bytes);
    bytes.fill(0);
    await written;
    expect(await filesystem.readBytes("f")).toEqual(Uint8Array.of(1, 2, 3));
  });

  test("is not seen half done, nor is its temporary file, by whoever asks meanwhile", async () => {
    const filesystem = new HostFilesystem(await emptyRoot());
    const text = "x".repeat(1_000_000);
    const asked: Promise<unknown>[] = [];
    for (let round = 0; round < 20; round++) {
      asked.push(filesystem.writeText("d/f", text));
      asked.push(filesystem.listDir("d").then((names) => expect(names).toEqual(["f"])));
      asked.push(filesystem.glob("*").then((paths) => expect(paths).toEqual(["d/f"])));
      asked.push(filesystem.stat("d/f").then((is) => expect(is.sizeBytes).toBe(1_000_000)));
    }
    await Promise.all(asked);
  });
});

test("names that differ in case or in how they are composed are two files", async () => {
  const filesystem = new HostFilesystem(await emptyRoot());
  for (const name of ["a", "A", "\u00e9", "e\u0301"]) await filesystem.writeText(name, name);
  expect(await filesystem.listDir(".")).toEqual(["A", "a", "e\u0301", "\u00e9"]);
  expect(await filesystem.readText("\u00e9")).toBe("\u00e9");
});

test("files that no path could name are not found, and what is above them is", async () => {
  const root = await emptyRoot();
  const deep = Array.from({ length: 63 }, () => "d").join("/");
  await mkdir(join(root, deep, "d"), { recursive: true });
  for (const path of [`${deep}/f`, `${deep}/d/f`]) await writeFile(join(root, path), "x");
  const filesystem = new HostFilesystem(root);
  expect(await filesystem.glob("*")).toEqual([`${deep}/f`]);
  expect(await filesystem.grep("x")).toHaveLength(1);
});

test("a pipe or a socket is there, got neither read, written, deleted nor found", async () => {
  const root = await emptyRoot();
  execFileSync("mkfifo", [join(root, "pipe")]);
  const server = createServer().listen(join(root, "socket"));
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const filesystem = new HostFilesystem(root);
  expect(await filesystem.listDir(".")).toEqual(["pipe", "socket"]);
  expect([await filesystem.glob("*"), await filesystem.grep("")]).toEqual([[], []]);
  for (const path of ["pipe", "socket"]) {
    const is = { path, isFile: false, isDir: false, sizeBytes: 0 };
    expect(await filesystem.stat(path)).toEqual(is);
    expect([await filesystem.exists(path), await filesystem.isFile(path)]).toEqual([true, false]);
    const calls = [
      () => filesystem.readBytes(path),
      () => filesystem.writeText(path, "x"),
      () => filesystem.delete(path),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "EINVAL" });
  }
});

test("one that is read-only refuses every change, before it looks at what is there", async () => {
  const root = await emptyRoot();
  const filesystem = new HostFilesystem(root, { readOnly: true });
  expect(filesystem.readOnly).toBe(true);
  const changes = [
    () => filesystem.write("a", new Uint8Array()),
    () => filesystem.writeText(".", "x"),
    () => filesystem.delete("gone"),
    () => filesystem.delete("."),
    () => filesystem.mkdir("."),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: "EACCES" });
  await expect(filesystem.mkdir("/")).rejects.toMatchObject({ code: "EINVAL" });
  await filesystem.restore(await filesystem.snapshot());
  expect(await readdir(root)).toEqual([]);
});
