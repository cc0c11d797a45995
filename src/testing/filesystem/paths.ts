import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { expectSame } from "../contract/expect.ts";
import { expectCode, type FilesystemCase, readTree, writeFiles } from "./filesystem-case.ts";

const bytes = Uint8Array.of(1);

/** Every method that takes a path. */
const methods: readonly (readonly [string, (fs: Filesystem, path: string) => Promise<unknown>])[] =
  [
    ["read", (fs, path) => fs.read(path)],
    ["readText", (fs, path) => fs.readText(path)],
    ["readBytes", (fs, path) => fs.readBytes(path)],
    ["write", (fs, path) => fs.write(path, bytes)],
    ["writeText", (fs, path) => fs.writeText(path, "x")],
    ["delete", (fs, path) => fs.delete(path)],
    ["exists", (fs, path) => fs.exists(path)],
    ["isFile", (fs, path) => fs.isFile(path)],
    ["isDir", (fs, path) => fs.isDir(path)],
    ["stat", (fs, path) => fs.stat(path)],
    ["listDir", (fs, path) => fs.listDir(path)],
    ["mkdir", (fs, path) => fs.mkdir(path)],
  ];

const invalidPaths = [
  "",
  "/",
  "/a",
  "//a",
  "..",
  "../a",
  "a/../..",
  "a/../../b",
  "a//b",
  "a/",
  "a\0b",
  "\0",
  "x".repeat(256),
  "é".repeat(128),
  Array.from({ length: 65 }, () => "d").join("/"),
];

const strangeNames = [
  "with space",
  " ",
  "-rf",
  "~",
  "...",
  ".hidden",
  "__proto__",
  "constructor",
  "a'b\"c`$(d)",
  "*?[x]",
  "C:",
  "naïve 🌱.txt",
  "x".repeat(255),
  "é".repeat(127),
];

/** Cases about the spelling of paths. */
export const pathCases: readonly FilesystemCase[] = [
  {
    name: "rejects an empty, absolute, too long or too deep path, a NUL, and one that leaves the root, with EINVAL in every method",
    async check(filesystem) {
      for (const path of invalidPaths) {
        for (const [method, call] of methods) {
          const error = await expectCode(call(filesystem, path), "EINVAL", `${method}(${path})`);
          expectSame(error.path, path, "the path of the error");
        }
      }
      expectSame(await readTree(filesystem), {}, "the tree after that");
    },
  },
  {
    name: "rejects a path that is not a string with EINVAL in every method",
    async check(filesystem) {
      for (const path of [undefined, null, 1, {}] as never[]) {
        for (const [method, call] of methods) {
          await expectCode(call(filesystem, path), "EINVAL", `${method}(${String(path)})`);
        }
      }
    },
  },
  {
    name: "resolves different spellings of a path to the same file",
    async check(filesystem) {
      await writeFiles(filesystem, "a/b");
      for (const path of ["./a/b", "a/./b", "a/../a/b", "x/../a/b", "a/b/."]) {
        expectSame(await filesystem.readText(path), "in a/b\n", path);
      }
      expectSame((await filesystem.stat("a/../a/./b")).path, "a/b", "the path of stat");
      for (const root of [".", "./.", "a/.."])
        expectSame(await filesystem.listDir(root), ["a"], root);
    },
  },
  {
    name: "accepts any name without a slash or NUL, and keeps similar names distinct",
    async check(filesystem) {
      for (const name of strangeNames) await filesystem.writeText(name, name);
      for (const name of strangeNames)
        expectSame(await filesystem.readText(name), name, "the text");
      expectSame(await filesystem.listDir("."), [...strangeNames].sort(), "the names");
      expectSame(await filesystem.glob("*"), [...strangeNames].sort(), "the paths");
    },
  },
  {
    name: "accepts files 64 levels deep",
    async check(filesystem) {
      const path = Array.from({ length: 64 }, () => "d").join("/");
      await writeFiles(filesystem, path);
      expectSame(await filesystem.readText(path), `in ${path}\n`, "the text");
      expectSame(await filesystem.glob("*"), [path], "the paths");
    },
  },
];
