import { expectSame } from "../contract/expect.ts";
import { expectCode, type FilesystemCase, readTree, writeFiles } from "./filesystem-case.ts";

const bytes = Uint8Array.of(1, 2);

/** Cases about writing, deleting, creating directories, and their stats. */
export const changingCases: readonly FilesystemCase[] = [
  {
    name: "starts as an empty root directory that cannot be deleted or overwritten",
    async check(filesystem) {
      const root = { path: ".", isFile: false, isDir: true, sizeBytes: 0 };
      expectSame(await filesystem.stat("."), root, "stat");
      expectSame(await filesystem.listDir("."), [], "listDir");
      expectSame(
        [await filesystem.exists("."), await filesystem.isDir(".")],
        [true, true],
        "the root exists",
      );
      await expectCode(filesystem.delete("."), "EACCES", "deleting the root");
      await expectCode(filesystem.delete("a/.."), "EACCES", "deleting the root by another name");
      await expectCode(filesystem.write(".", bytes), "EISDIR", "writing the root");
      await filesystem.mkdir(".");
    },
  },
  {
    name: "creates parent directories on write and keeps them after the file is deleted",
    async check(filesystem) {
      await filesystem.write("a/b/c", bytes);
      expectSame(await readTree(filesystem), { a: null, "a/b": null, "a/b/c": [1, 2] }, "the tree");
      await filesystem.delete("a/b/c");
      expectSame(await readTree(filesystem), { a: null, "a/b": null }, "the tree without the file");
    },
  },
  {
    name: "replaces the whole file on write",
    async check(filesystem) {
      await filesystem.writeText("f", "a long text");
      await filesystem.writeText("f", "short");
      expectSame(await filesystem.readText("f"), "short", "the text");
      expectSame((await filesystem.stat("f")).sizeBytes, 5, "the size");
    },
  },
  {
    name: "rejects a write over a directory with EISDIR and below a file with ENOTDIR, without changes",
    async check(filesystem) {
      await writeFiles(filesystem, "dir/file");
      const before = await readTree(filesystem);
      await expectCode(filesystem.write("dir", bytes), "EISDIR", "over a directory");
      await expectCode(filesystem.write("dir/file/x", bytes), "ENOTDIR", "below a file");
      await expectCode(filesystem.write("dir/file/x/y", bytes), "ENOTDIR", "far below a file");
      expectSame(await readTree(filesystem), before, "the tree");
    },
  },
  {
    name: "reports files and directories with exists, isFile and isDir, which are false below a file",
    async check(filesystem) {
      await writeFiles(filesystem, "dir/file");
      const describePath = async (path: string) => [
        await filesystem.exists(path),
        await filesystem.isFile(path),
        await filesystem.isDir(path),
      ];
      expectSame(await describePath("dir"), [true, false, true], "a directory");
      expectSame(await describePath("dir/file"), [true, true, false], "a file");
      for (const path of ["gone", "dir/gone", "gone/gone", "dir/file/x"]) {
        expectSame(await describePath(path), [false, false, false], path);
      }
    },
  },
  {
    name: "returns the size of a file from stat, and 0 for a directory",
    async check(filesystem) {
      await filesystem.writeText("dir/f", "é");
      const file = { path: "dir/f", isFile: true, isDir: false, sizeBytes: 2 };
      expectSame(await filesystem.stat("dir/f"), file, "a file");
      expectSame((await filesystem.stat("dir")).sizeBytes, 0, "a directory");
      await expectCode(filesystem.stat("gone"), "ENOENT", "what is missing");
      await expectCode(filesystem.stat("dir/f/x"), "ENOTDIR", "below a file");
    },
  },
  {
    name: "lists only directories, with names sorted by code unit",
    async check(filesystem) {
      await writeFiles(
        filesystem,
        "b",
        "a",
        "B",
        "_",
        "é",
        "z",
        "🌱",
        "\uFF5E",
        "dir/x",
        "10",
        "9",
      );
      const names = ["10", "9", "B", "_", "a", "b", "dir", "z", "é", "🌱", "\uFF5E"];
      expectSame(await filesystem.listDir("."), names, "the names");
      expectSame(await filesystem.listDir("dir"), ["x"], "the names in it");
      await expectCode(filesystem.listDir("gone"), "ENOENT", "what is missing");
      await expectCode(filesystem.listDir("a"), "ENOTDIR", "a file");
      await expectCode(filesystem.listDir("a/x"), "ENOTDIR", "below a file");
    },
  },
  {
    name: "deletes a file or an empty directory, and rejects a non-empty directory with EISDIR",
    async check(filesystem) {
      await writeFiles(filesystem, "dir/file", "dir/sub/file");
      await expectCode(filesystem.delete("dir"), "EISDIR", "a directory with files");
      await filesystem.delete("dir/sub/file");
      await filesystem.delete("dir/sub");
      await filesystem.delete("dir/file");
      await filesystem.delete("dir");
      expectSame(await readTree(filesystem), {}, "the tree");
    },
  },
  {
    name: "rejects deleting a missing path with ENOENT and below a file with ENOTDIR",
    async check(filesystem) {
      await writeFiles(filesystem, "dir/file");
      for (const path of ["gone", "dir/gone", "gone/gone"]) {
        await expectCode(filesystem.delete(path), "ENOENT", path);
      }
      await expectCode(filesystem.delete("dir/file/x"), "ENOTDIR", "below a file");
    },
  },
  {
    name: "creates missing directories with mkdir, accepts existing ones, and rejects a file with EEXIST",
    async check(filesystem) {
      await filesystem.mkdir("a/b/c");
      await filesystem.mkdir("a/b");
      await filesystem.mkdir("a/b/c");
      expectSame(await readTree(filesystem), { a: null, "a/b": null, "a/b/c": null }, "the tree");
      await writeFiles(filesystem, "f");
      await expectCode(filesystem.mkdir("f"), "EEXIST", "on a file");
      await expectCode(filesystem.mkdir("f/x"), "ENOTDIR", "below a file");
      expectSame(await filesystem.glob("*"), ["f"], "the files");
    },
  },
  {
    name: "keeps concurrent writes atomic: readers never see a partial file",
    async check(filesystem) {
      const texts = ["a", "b", "c", "d"].map((letter) => letter.repeat(50_000));
      await filesystem.writeText("f", texts.join("").slice(0, 50_000));
      const writes = texts.map((text) => filesystem.writeText("f", text));
      const reads = await Promise.all(texts.map(() => filesystem.readText("f")));
      const names = await filesystem.listDir(".");
      await Promise.all(writes);
      for (const text of [...reads, await filesystem.readText("f")]) {
        expectSame(texts.includes(text), true, "it is one of the texts");
      }
      expectSame(names, ["f"], "the names during the writes");
    },
  },
];
