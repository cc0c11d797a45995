import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { expectSame } from "../contract/expect.ts";
import { expectCode, type FilesystemCase, writeFiles } from "./filesystem-case.ts";

const files = ["a.py", "src/b.py", "src/deep/c.py", "src/d.txt", ".git/config", "README"];

/** Cases about glob and grep. */
export const searchingCases: readonly FilesystemCase[] = [
  {
    name: "matches globs against whole paths like fnmatch, and returns sorted files only",
    async check(filesystem) {
      await writeFiles(filesystem, ...files);
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
        "/*": [],
        "../*": [],
      };
      for (const [pattern, paths] of Object.entries(expected)) {
        expectSame(await filesystem.glob(pattern), paths, pattern);
      }
    },
  },
  {
    name: "expands braces in globs, unless they are escaped",
    async check(filesystem) {
      await writeFiles(filesystem, ...files);
      const expected = {
        "{a,b}.py": ["a.py"],
        "*.{txt,md}": ["src/d.txt"],
        "{src,src/{deep,x}}/?.py": ["src/b.py", "src/deep/c.py"],
        "\\{a,b\\}.py": [],
        "{a}.py": [],
      };
      for (const [pattern, paths] of Object.entries(expected)) {
        expectSame(await filesystem.glob(pattern), paths, pattern);
      }
    },
  },
  {
    name: "rejects a pattern that is empty, contains a NUL or is not a string with EINVAL",
    async check(filesystem) {
      for (const pattern of ["", "a\0", undefined as never]) {
        await expectCode(filesystem.glob(pattern), "EINVAL", `glob ${pattern}`);
        if (typeof pattern !== "string") continue;
        await expectCode(filesystem.grep("x", { glob: pattern }), "EINVAL", `grep ${pattern}`);
      }
    },
  },
  {
    name: "matches a glob with many stars without delay",
    async check(filesystem) {
      await writeFiles(filesystem, "a".repeat(250));
      expectSame(await filesystem.glob(`${"*a".repeat(40)}*b`), [], "the paths");
    },
  },
  {
    name: "returns each matching line once, sorted by path and line, without its ending",
    async check(filesystem) {
      await filesystem.writeText("b", "x x\r\ny\r\nx");
      await filesystem.writeText("a/z", "no\nax\n");
      const found = [
        { path: "a/z", line: 2, text: "ax" },
        { path: "b", line: 1, text: "x x" },
        { path: "b", line: 3, text: "x" },
      ];
      expectSame(await filesystem.grep("x$"), found, "the lines");
      expectSame(
        await filesystem.grep("^$"),
        [],
        "matches for an empty line after a final newline",
      );
    },
  },
  {
    name: "searches only files that the glob matches, and stops at maxMatches",
    async check(filesystem) {
      await writeFiles(filesystem, ...files);
      expectSame(await grepPaths(filesystem, { glob: "*.txt" }), ["src/d.txt"], "by glob");
      expectSame(
        await grepPaths(filesystem, { maxMatches: 2 }),
        [".git/config", "README"],
        "the first two",
      );
      expectSame(await grepPaths(filesystem, { maxMatches: 0 }), [], "none");
      await filesystem.writeText("many", "in\n".repeat(1500));
      expectSame((await filesystem.grep("in", { glob: "many" })).length, 1000, "without a limit");
      for (const wrong of [-1, 0.5, Number.NaN]) {
        await expectCode(filesystem.grep("x", { maxMatches: wrong }), "EINVAL", String(wrong));
      }
    },
  },
  {
    name: "searches with JavaScript regular expressions, and rejects an invalid one with EINVAL",
    async check(filesystem) {
      await writeFiles(filesystem, "f");
      expectSame((await filesystem.grep("^in (?<name>\\w)$")).length, 1, "the matches");
      await expectCode(filesystem.grep("("), "EINVAL", "a bad expression");
      await expectCode(filesystem.grep(undefined as never), "EINVAL", "no expression");
    },
  },
  {
    name: "skips binary files, other encodings and very long lines in grep",
    async check(filesystem) {
      await filesystem.write("binary", Uint8Array.of(0x69, 0x6e, 0));
      await filesystem.write("latin1", Uint8Array.of(0x69, 0x6e, 0xe9));
      await filesystem.writeText("long", `${"in".repeat(50_001)}\nin\n`);
      expectSame(
        await filesystem.grep("in"),
        [{ path: "long", line: 2, text: "in" }],
        "the matches",
      );
      await filesystem.writeText("long", "in".repeat(50_000));
      expectSame(
        (await filesystem.grep("in")).length,
        1,
        "matches in a line of the maximum length",
      );
    },
  },
];

async function grepPaths(filesystem: Filesystem, options: Parameters<Filesystem["grep"]>[1]) {
  return (await filesystem.grep("in", options)).map(({ path }) => path);
}
