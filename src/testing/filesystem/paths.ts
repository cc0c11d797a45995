import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { same } from "../contract/expect.ts";
import { type FilesystemCase, fill, refuses, treeOf } from "./filesystem-case.ts";

const bytes = Uint8Array.of(1);

/** Everything that takes a path. */
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

const refusedPaths = [
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

/** How paths are spelled. */
export const pathCases: readonly FilesystemCase[] = [
  {
    name: "a path that is empty, absolute, too long, too deep, holds a NUL or leaves the root is EINVAL on every method",
    async check(filesystem) {
      for (const path of refusedPaths) {
        for (const [method, call] of methods) {
          const error = await refuses(call(filesystem, path), "EINVAL", `${method}(${path})`);
          same(error.path, path, "the path of the error");
        }
      }
      same(await treeOf(filesystem), {}, "what is there afterwards");
    },
  },
  {
    name: "what is not text is EINVAL as a path on every method",
    async check(filesystem) {
      for (const path of [undefined, null, 1, {}] as never[]) {
        for (const [method, call] of methods) {
          await refuses(call(filesystem, path), "EINVAL", `${method}(${String(path)})`);
        }
      }
    },
  },
  {
    name: "two spellings of one path are one file",
    async check(filesystem) {
      await fill(filesystem, "a/b");
      for (const path of ["./a/b", "a/./b", "a/../a/b", "x/../a/b", "a/b/."]) {
        same(await filesystem.readText(path), "in a/b\n", path);
      }
      same((await filesystem.stat("a/../a/./b")).path, "a/b", "the path of stat");
      for (const root of [".", "./.", "a/.."]) same(await filesystem.listDir(root), ["a"], root);
    },
  },
  {
    name: "names may hold anything but a slash and a NUL, and are told apart",
    async check(filesystem) {
      for (const name of strangeNames) await filesystem.writeText(name, name);
      for (const name of strangeNames) same(await filesystem.readText(name), name, "the text");
      same(await filesystem.listDir("."), [...strangeNames].sort(), "the names");
      same(await filesystem.glob("*"), [...strangeNames].sort(), "the paths");
    },
  },
  {
    name: "files may be 64 levels deep",
    async check(filesystem) {
      const path = Array.from({ length: 64 }, () => "d").join("/");
      await fill(filesystem, path);
      same(await filesystem.readText(path), `in ${path}\n`, "the text");
      same(await filesystem.glob("*"), [path], "the paths");
    },
  },
];
