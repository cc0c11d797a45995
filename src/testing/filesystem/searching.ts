import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { same } from "../contract/expect.ts";
import { type FilesystemCase, fill, refuses } from "./filesystem-case.ts";

const files = ["a.py", "src/b.py", "src/deep/c.py", "src/d.txt", ".git/config", "README"];

/** glob and grep. */
export const searchingCases: readonly FilesystemCase[] = [
  {
    name: "glob matches as fnmatch does, on whole paths, and gives files only, sorted",
    async check(filesystem) {
      await fill(filesystem, ...files);
      await filesystem.mkdir("src/empty.py");
      const expected = {
        "*": [".git/config", "README", "a.py", "src/b.py", "src/d.txt", "src/deep/c.py"],
        "*.py": ["a.py", "src/b.py", "src/deep/c.py"],
        "**/*.py": ["a.py", "src/b.py", "src/deep/c.py"],
        "src/*": ["src/b.py", "src/d.txt", "src/deep/c.py"],
        "src/?.py": ["src/b.py"],
        "[!a-r]*": [".git/config", "README", "src/b.py", "src/d.txt", "src/deep/c.py"],
        ".git/*": [".git/config"],
        readme: [],
        src: [],
        "{a,b}.py": [],
        "/*": [],
        "../*": [],
      };
      for (const [pattern, paths] of Object.entries(expected)) {
        same(await filesystem.glob(pattern), paths, pattern);
      }
    },
  },
  {
    name: "a pattern that is empty, holds a NUL or is no text is EINVAL",
    async check(filesystem) {
      for (const pattern of ["", "a\0", undefined as never]) {
        await refuses(filesystem.glob(pattern), "EINVAL", `glob ${pattern}`);
        if (typeof pattern !== "string") continue;
        await refuses(filesystem.grep("x", { glob: pattern }), "EINVAL", `grep ${pattern}`);
      }
    },
  },
  {
    name: "a glob with many stars is answered at once",
    async check(filesystem) {
      await fill(filesystem, "a".repeat(250));
      same(await filesystem.glob(`${"*a".repeat(40)}*b`), [], "the paths");
    },
  },
  {
    name: "grep finds a line once, by path and then by line, without its end",
    async check(filesystem) {
      await filesystem.writeText("b", "x x\r\ny\r\nx");
      await filesystem.writeText("a/z", "no\nax\n");
      const found = [
        { path: "a/z", line: 2, text: "ax" },
        { path: "b", line: 1, text: "x x" },
        { path: "b", line: 3, text: "x" },
      ];
      same(await filesystem.grep("x$"), found, "the lines");
      same(await filesystem.grep("^$"), [], "a final newline is no empty line");
    },
  },
  {
    name: "grep looks only into files that the glob matches, and stops at maxMatches",
    async check(filesystem) {
      await fill(filesystem, ...files);
      same(await pathsOf(filesystem, { glob: "*.txt" }), ["src/d.txt"], "by glob");
      same(
        await pathsOf(filesystem, { maxMatches: 2 }),
        [".git/config", "README"],
        "the first two",
      );
      same(await pathsOf(filesystem, { maxMatches: 0 }), [], "none");
      await filesystem.writeText("many", "in\n".repeat(1500));
      same((await filesystem.grep("in", { glob: "many" })).length, 1000, "without a limit");
      for (const wrong of [-1, 0.5, Number.NaN]) {
        await refuses(filesystem.grep("x", { maxMatches: wrong }), "EINVAL", String(wrong));
      }
    },
  },
  {
    name: "grep takes JavaScript regular expressions, and a bad one is EINVAL",
    async check(filesystem) {
      await fill(filesystem, "f");
      same((await filesystem.grep("^in (?<name>\\w)$")).length, 1, "the matches");
      await refuses(filesystem.grep("("), "EINVAL", "a bad expression");
      await refuses(filesystem.grep(undefined as never), "EINVAL", "no expression");
    },
  },
  {
    name: "grep passes over binary files, other encodings and very long lines",
    async check(filesystem) {
      await filesystem.write("binary", Uint8Array.of(0x69, 0x6e, 0));
      await filesystem.write("latin1", Uint8Array.of(0x69, 0x6e, 0xe9));
      await filesystem.writeText("long", `${"in".repeat(50_001)}\nin\n`);
      same(await filesystem.grep("in"), [{ path: "long", line: 2, text: "in" }], "the matches");
      await filesystem.writeText("long", "in".repeat(50_000));
      same((await filesystem.grep("in")).length, 1, "exactly as long as it may be");
    },
  },
];

async function pathsOf(filesystem: Filesystem, options: Parameters<Filesystem["grep"]>[1]) {
  return (await filesystem.grep("in", options)).map(({ path }) => path);
}
