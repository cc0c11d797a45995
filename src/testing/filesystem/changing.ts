import { same } from "../contract/expect.ts";
import { type FilesystemCase, fill, refuses, treeOf } from "./filesystem-case.ts";

const bytes = Uint8Array.of(1, 2);

/** Writing, deleting, making directories, and what is then said of them. */
export const changingCases: readonly FilesystemCase[] = [
  {
    name: "an empty file system is a root directory that cannot be deleted or written",
    async check(filesystem) {
      const root = { path: ".", isFile: false, isDir: true, sizeBytes: 0 };
      same(await filesystem.stat("."), root, "stat");
      same(await filesystem.listDir("."), [], "listDir");
      same(
        [await filesystem.exists("."), await filesystem.isDir(".")],
        [true, true],
        "it is there",
      );
      await refuses(filesystem.delete("."), "EACCES", "deleting the root");
      await refuses(filesystem.delete("a/.."), "EACCES", "deleting the root by another name");
      await refuses(filesystem.write(".", bytes), "EISDIR", "writing the root");
      await filesystem.mkdir(".");
    },
  },
  {
    name: "a write makes the directories above it, and they stay when the file is deleted",
    async check(filesystem) {
      await filesystem.write("a/b/c", bytes);
      same(await treeOf(filesystem), { a: null, "a/b": null, "a/b/c": [1, 2] }, "the tree");
      await filesystem.delete("a/b/c");
      same(await treeOf(filesystem), { a: null, "a/b": null }, "the tree without the file");
    },
  },
  {
    name: "a write replaces the whole file",
    async check(filesystem) {
      await filesystem.writeText("f", "a long text");
      await filesystem.writeText("f", "short");
      same(await filesystem.readText("f"), "short", "the text");
      same((await filesystem.stat("f")).sizeBytes, 5, "the size");
    },
  },
  {
    name: "writing over a directory is EISDIR, below a file ENOTDIR, and neither changes anything",
    async check(filesystem) {
      await fill(filesystem, "dir/file");
      const before = await treeOf(filesystem);
      await refuses(filesystem.write("dir", bytes), "EISDIR", "over a directory");
      await refuses(filesystem.write("dir/file/x", bytes), "ENOTDIR", "below a file");
      await refuses(filesystem.write("dir/file/x/y", bytes), "ENOTDIR", "far below a file");
      same(await treeOf(filesystem), before, "the tree");
    },
  },
  {
    name: "exists, isFile and isDir say what is there, and are false below a file",
    async check(filesystem) {
      await fill(filesystem, "dir/file");
      const said = async (path: string) => [
        await filesystem.exists(path),
        await filesystem.isFile(path),
        await filesystem.isDir(path),
      ];
      same(await said("dir"), [true, false, true], "a directory");
      same(await said("dir/file"), [true, true, false], "a file");
      for (const path of ["gone", "dir/gone", "gone/gone", "dir/file/x"]) {
        same(await said(path), [false, false, false], path);
      }
    },
  },
  {
    name: "stat gives sizes of files, and 0 for directories",
    async check(filesystem) {
      await filesystem.writeText("dir/f", "é");
      const file = { path: "dir/f", isFile: true, isDir: false, sizeBytes: 2 };
      same(await filesystem.stat("dir/f"), file, "a file");
      same((await filesystem.stat("dir")).sizeBytes, 0, "a directory");
      await refuses(filesystem.stat("gone"), "ENOENT", "what is missing");
      await refuses(filesystem.stat("dir/f/x"), "ENOTDIR", "below a file");
    },
  },
  {
    name: "listDir gives names sorted by code unit, and only of a directory",
    async check(filesystem) {
      await fill(filesystem, "b", "a", "B", "_", "é", "z", "🌱", "\uFF5E", "dir/x", "10", "9");
      const names = ["10", "9", "B", "_", "a", "b", "dir", "z", "é", "🌱", "\uFF5E"];
      same(await filesystem.listDir("."), names, "the names");
      same(await filesystem.listDir("dir"), ["x"], "the names in it");
      await refuses(filesystem.listDir("gone"), "ENOENT", "what is missing");
      await refuses(filesystem.listDir("a"), "ENOTDIR", "a file");
      await refuses(filesystem.listDir("a/x"), "ENOTDIR", "below a file");
    },
  },
  {
    name: "delete removes a file or an empty directory, and a directory that is not empty is EISDIR",
    async check(filesystem) {
      await fill(filesystem, "dir/file", "dir/sub/file");
      await refuses(filesystem.delete("dir"), "EISDIR", "a directory with files");
      await filesystem.delete("dir/sub/file");
      await filesystem.delete("dir/sub");
      await filesystem.delete("dir/file");
      await filesystem.delete("dir");
      same(await treeOf(filesystem), {}, "the tree");
    },
  },
  {
    name: "deleting what is missing is ENOENT, below a file ENOTDIR",
    async check(filesystem) {
      await fill(filesystem, "dir/file");
      for (const path of ["gone", "dir/gone", "gone/gone"]) {
        await refuses(filesystem.delete(path), "ENOENT", path);
      }
      await refuses(filesystem.delete("dir/file/x"), "ENOTDIR", "below a file");
    },
  },
  {
    name: "mkdir makes what is missing, accepts what is there, and is EEXIST on a file",
    async check(filesystem) {
      await filesystem.mkdir("a/b/c");
      await filesystem.mkdir("a/b");
      await filesystem.mkdir("a/b/c");
      same(await treeOf(filesystem), { a: null, "a/b": null, "a/b/c": null }, "the tree");
      await fill(filesystem, "f");
      await refuses(filesystem.mkdir("f"), "EEXIST", "on a file");
      await refuses(filesystem.mkdir("f/x"), "ENOTDIR", "below a file");
      same(await filesystem.glob("*"), ["f"], "the files");
    },
  },
  {
    name: "writes at the same time leave one of them whole, and reads see no half of one",
    async check(filesystem) {
      const texts = ["a", "b", "c", "d"].map((letter) => letter.repeat(50_000));
      await filesystem.writeText("f", texts.join("").slice(0, 50_000));
      const writes = texts.map((text) => filesystem.writeText("f", text));
      const reads = await Promise.all(texts.map(() => filesystem.readText("f")));
      const names = await filesystem.listDir(".");
      await Promise.all(writes);
      for (const text of [...reads, await filesystem.readText("f")]) {
        same(texts.includes(text), true, "it is one of the texts");
      }
      same(names, ["f"], "the names meanwhile");
    },
  },
];
