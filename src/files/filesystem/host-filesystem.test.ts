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
  truncate,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { HostFilesystem } from "./host-filesystem.ts";

async function createRoot(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "wink-host-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return root;
}

describe("the root of HostFilesystem", () => {
  test("must be an existing directory when the file system is created", async () => {
    const root = await createRoot();
    await writeFile(join(root, "file"), "");
    expect(() => new HostFilesystem(join(root, "gone"))).toThrow(/^ENOENT: .*gone" does not exist/);
    expect(() => new HostFilesystem(join(root, "file"))).toThrow(/^ENOTDIR: .*file" is not a dir/);
    expect(() => new HostFilesystem(join(root, "file/x"))).toThrow(/^ENOTDIR: /);
    expect(() => new HostFilesystem("\0")).toThrow(/^EACCES: /);
    expect(() => new HostFilesystem(undefined as never)).toThrow(/^EACCES: "undefined" /);
  });

  test("stays the original directory if its symlink changes later", async () => {
    const scratch = await createRoot();
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

  test("is not created again after it was removed", async () => {
    const root = join(await createRoot(), "root");
    await mkdir(root);
    const filesystem = new HostFilesystem(root);
    await rm(root, { recursive: true });
    await expect(filesystem.readText("f")).rejects.toThrow(
      "cannot be reached because the root was removed",
    );
    await expect(filesystem.writeText("f", "x")).rejects.toMatchObject({ code: "ENOENT" });
    expect([await filesystem.exists("."), await filesystem.glob("*")]).toEqual([false, []]);
  });

  test("is not followed after a symlink has replaced it", async () => {
    const scratch = await createRoot();
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

describe("HostFilesystem.write()", () => {
  test("preserves the mode of the file it replaces and leaves no temporary file", async () => {
    const root = await createRoot();
    const filesystem = new HostFilesystem(root);
    for (const mode of [0o600, 0o640, 0o755, 0o777]) {
      await writeFile(join(root, "f"), "old");
      await chmod(join(root, "f"), mode);
      await filesystem.writeText("f", "new");
      expect((await stat(join(root, "f"))).mode & 0o7777).toBe(mode);
    }
    expect(await readdir(root)).toEqual(["f"]);
  });

  test("creates files and directories with the default mode", async () => {
    const root = await createRoot();
    await new HostFilesystem(root).writeText("d/f", "x");
    expect((await stat(join(root, "d/f"))).mode & 0o777).toBe(0o666 & ~process.umask());
    expect((await stat(join(root, "d"))).mode & 0o777).toBe(0o777 & ~process.umask());
  });

  test("does not change other hard links of the file", async () => {
    const root = await createRoot();
    await writeFile(join(root, "f"), "old");
    await link(join(root, "f"), join(root, "g"));
    const filesystem = new HostFilesystem(root);
    await filesystem.writeText("f", "new");
    expect([await filesystem.readText("f"), await filesystem.readText("g")]).toEqual([
      "new",
      "old",
    ]);
  });

  test("removes the directories it created if it fails", async () => {
    const root = await createRoot();
    await mkdir(join(root, "d"));
    const filesystem = new HostFilesystem(root);
    const long = Array.from({ length: 30 }, () => "x".repeat(200)).join("/");
    await expect(filesystem.writeText(`d/${long}`, "x")).rejects.toMatchObject({ code: "EINVAL" });
    expect(await readdir(join(root, "d"))).toEqual([]);
  });

  test("copies the bytes when it is called", async () => {
    const filesystem = new HostFilesystem(await createRoot());
    const bytes = Uint8Array.of(1, 2, 3);
    const written = filesystem.write("f", bytes);
    bytes.fill(0);
    await written;
    expect(await filesystem.readBytes("f")).toEqual(Uint8Array.of(1, 2, 3));
  });

  test("hides partial writes and temporary files from concurrent reads", async () => {
    const filesystem = new HostFilesystem(await createRoot());
    const text = "x".repeat(1_000_000);
    const operations: Promise<unknown>[] = [];
    for (let round = 0; round < 20; round++) {
      operations.push(filesystem.writeText("d/f", text));
      operations.push(filesystem.listDir("d").then((names) => expect(names).toEqual(["f"])));
      operations.push(filesystem.glob("*").then((paths) => expect(paths).toEqual(["d/f"])));
      operations.push(filesystem.stat("d/f").then((is) => expect(is.sizeBytes).toBe(1_000_000)));
    }
    await Promise.all(operations);
  });
});

test("HostFilesystem distinguishes names by case and Unicode composition", async () => {
  const filesystem = new HostFilesystem(await createRoot());
  for (const name of ["a", "A", "\u00e9", "e\u0301"]) await filesystem.writeText(name, name);
  expect(await filesystem.listDir(".")).toEqual(["A", "a", "e\u0301", "\u00e9"]);
  expect(await filesystem.readText("\u00e9")).toBe("\u00e9");
});

test("HostFilesystem omits files that are nested too deeply for a valid path", async () => {
  const root = await createRoot();
  const deep = Array.from({ length: 63 }, () => "d").join("/");
  await mkdir(join(root, deep, "d"), { recursive: true });
  for (const path of [`${deep}/f`, `${deep}/d/f`]) await writeFile(join(root, path), "x");
  const filesystem = new HostFilesystem(root);
  expect(await filesystem.glob("*")).toEqual([`${deep}/f`]);
  expect(await filesystem.grep("x")).toHaveLength(1);
});

test("HostFilesystem lists pipes and sockets, but does not read, write, delete or find them", async () => {
  const root = await createRoot();
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

test("HostFilesystem with readOnly rejects every change before it checks the path's state", async () => {
  const root = await createRoot();
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

test.runIf(process.platform === "linux")("HostFilesystem reads a file without a size", async () => {
  const text = await new HostFilesystem("/proc/self").readText("status");
  expect(text).toContain(`Pid:\t${process.pid}`);
});

test("HostFilesystem.readText() rejects a file of more than 64 MiB", async () => {
  const root = await createRoot();
  await writeFile(join(root, "big"), "");
  await truncate(join(root, "big"), 64 * 2 ** 20 + 1);
  const files = new HostFilesystem(root);
  await expect(files.readText("big")).rejects.toMatchObject({ code: "EFBIG" });
  await expect(files.read("big")).rejects.toThrow("At most 67108864 can be read at once.");
});
