import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, symlinkSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { unpackTar } from "modern-tar";
import { describe, expect, test } from "vitest";
import { runAsPlainUser, temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { writeTar } from "./write-tar.ts";

function packFolder(folder: string): Buffer {
  const chunks: Uint8Array[] = [];
  writeTar(folder, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}

const runGnuTar = (args: readonly string[], input: Buffer) =>
  execFileSync("tar", args, { input, encoding: "utf8", env: { ...process.env, TZ: "UTC" } });

describe("writeTar()", () => {
  test("writes an archive that GNU tar lists", () => {
    const folder = temporaryTree({ "b/run": "#!", "b.txt": "hello", a: "", empty: null });
    chmodSync(join(folder, "b/run"), 0o700);
    chmodSync(join(folder, "b.txt"), 0o666);
    expect(runGnuTar(["-tvf", "-"], packFolder(folder)).split("\n")).toEqual([
      "-rw-r--r-- 0/0               0 1980-01-02 00:00 a",
      "-rw-r--r-- 0/0               5 1980-01-02 00:00 b.txt",
      "drwxr-xr-x 0/0               0 1980-01-02 00:00 b/",
      "-rwxr-xr-x 0/0               2 1980-01-02 00:00 b/run",
      "drwxr-xr-x 0/0               0 1980-01-02 00:00 empty/",
      "",
    ]);
  });

  test("writes an archive with unusual names and sizes that GNU tar extracts", () => {
    const deep = Array.from({ length: 30 }, (_, level) => `level-${level}`).join("/");
    const folder = temporaryTree({
      ["x".repeat(255)]: "1",
      [`${"ü".repeat(127)}x`]: "2",
      [`${deep}/leaf`]: "3",
      "日本語/😀.txt": "4",
      "new\nline": "5",
      "back\\slash": "6",
      " ": "7",
      "-rf": "8",
      block: Buffer.alloc(512, 1),
      "block+1": Buffer.alloc(513, 2),
      chunk: Buffer.alloc(256 * 1024, 3),
      large: Buffer.alloc(3_000_001, "abc"),
      empty: "",
      nothing: null,
    });
    const target = temporaryTree();
    runGnuTar(["-xf", "-", "-C", target], packFolder(folder));
    expect(execFileSync("diff", ["-r", folder, target], { encoding: "utf8" })).toBe("");
  });

  test("writes an archive that modern-tar reads in strict mode", async () => {
    const folder = temporaryTree({ "é/a.txt": "hello", z: "" });
    const found = await unpackTar(packFolder(folder), { strict: true });
    const TIME = Date.UTC(1980, 0, 2);
    expect(
      found.map(({ header, data }) => [header.name, header.mtime?.getTime(), data?.length]),
    ).toEqual([
      ["z", TIME, 0],
      ["é/", TIME, undefined],
      ["é/a.txt", TIME, 5],
    ]);
  });

  test("writes only the end blocks for an empty folder", () => {
    const tar = packFolder(temporaryTree());
    expect(tar.length).toBe(1024);
    expect(runGnuTar(["-tf", "-"], tar)).toBe("");
  });

  test("writes equal bytes for equal trees", () => {
    const tree = { "a/1": "x", "a.b": "y", "B/2": "z", é: "" };
    const one = temporaryTree(tree);
    const other = temporaryTree(Object.fromEntries(Object.entries(tree).reverse()));
    utimesSync(join(other, "a/1"), 1, 1);
    chmodSync(join(other, "a/1"), 0o600);
    expect(packFolder(other).equals(packFolder(one))).toBe(true);
    expect(packFolder(`${one}/`).equals(packFolder(one))).toBe(true);
    chmodSync(join(other, "a/1"), 0o700);
    expect(packFolder(other).equals(packFolder(one))).toBe(false);
  });

  test("writes the size of files larger than 8 GiB", () => {
    const folder = temporaryTree({ huge: "", "z-last": "end" });
    truncateSync(join(folder, "huge"), 8 * 1024 ** 3);
    let head: Buffer | undefined;
    const stop = new Error("enough");
    expect(() =>
      writeTar(folder, (chunk) => {
        head = Buffer.from(chunk.subarray(0, 2048));
        throw stop;
      }),
    ).toThrow(stop);
    expect(head?.subarray(512).toString("latin1")).toMatch(/^19 size=8589934592\n/);
  });
});

describe("writeTar() rejects", () => {
  test("a symlink", () => {
    const folder = temporaryTree({ a: "" });
    symlinkSync("a", join(folder, "link"));
    expect(() => packFolder(folder)).toThrow(
      expect.objectContaining({
        name: "FilesystemError",
        code: "EINVAL",
        path: join(folder, "link"),
      }),
    );
  });

  test("a pipe", () => {
    const folder = temporaryTree({ a: "" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(() => packFolder(folder)).toThrow(
      "is neither a file nor a folder. Remove it, then pack again.",
    );
  });

  test("a missing folder and a file", () => {
    const folder = temporaryTree({ a: "" });
    expect(() => packFolder(join(folder, "gone"))).toThrow(
      expect.objectContaining({ code: "ENOENT" }),
    );
    expect(() => packFolder(join(folder, "a"))).toThrow(
      expect.objectContaining({ code: "ENOTDIR" }),
    );
  });

  test("a file that this user may not read", async () => {
    const folder = temporaryTree({ a: "" });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "a"), 0o000);
    await expect(runAsPlainUser(() => packFolder(folder))).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EACCES",
      path: join(folder, "a"),
    });
  });

  test("a file that becomes shorter while it is read", () => {
    const folder = temporaryTree({ large: Buffer.alloc(1024 * 1024) });
    expect(() => writeTar(folder, () => truncateSync(join(folder, "large"), 1000))).toThrow(
      expect.objectContaining({ name: "FilesystemError", path: join(folder, "large") }),
    );
    expect(readFileSync(join(folder, "large")).length).toBe(1000);
  });
});
