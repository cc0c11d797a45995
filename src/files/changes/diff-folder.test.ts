import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { type Tree, temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { captureBaseline } from "../digests/capture-baseline.ts";
import { diffFolder } from "./diff-folder.ts";
import { WorkspaceDiff } from "./workspace-diff.ts";

/** Creates a folder, records it, and lets `change` change a copy of it. */
function createChange(tree: Tree, change: (folder: string) => void) {
  const before = temporaryTree(tree);
  const after = temporaryTree();
  cpSync(before, after, { recursive: true });
  const originals = join(temporaryTree(), "originals");
  const baseline = captureBaseline({ folder: after, originals });
  change(after);
  return { before, after, diff: new WorkspaceDiff(diffFolder({ folder: after, baseline })) };
}

function runGit(folder: string, ...args: readonly string[]): string {
  const identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "core.autocrlf=false"];
  return execFileSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8" });
}

/** Applies a patch to a copy of a folder with a real program, and returns the result. */
function applyWith(program: "git" | "patch", before: string, patch: string) {
  const folder = temporaryTree();
  cpSync(before, folder, { recursive: true });
  const file = join(temporaryTree(), "change.patch");
  writeFileSync(file, patch);
  if (program === "git") runGit(folder, "apply", "--whitespace=nowarn", file);
  else execFileSync("patch", ["-p1", "--batch", "--silent", "-i", file], { cwd: folder });
  return readTree(folder);
}

/** Reads the files of a folder, and marks executable ones. */
function readTree(folder: string): Readonly<Record<string, string>> {
  const files = Object.entries(filesIn(folder)).map(([path, text]) => {
    const isExecutable = (statSync(join(folder, path)).mode & 0o100) !== 0;
    return [path, isExecutable ? `(executable) ${text}` : text] as const;
  });
  return Object.fromEntries(files);
}

const numbers = (count: number) =>
  Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");

const CHANGES: readonly (readonly [string, Tree, (folder: string) => void])[] = [
  [
    "changed lines",
    { a: numbers(40) },
    (folder) =>
      writeTree(folder, {
        a: numbers(40)
          .replace("\n3\n", "\nthree\n")
          .replace("\n9\n", "\n")
          .replace("\n30\n", "\n30\n30.5\n"),
      }),
  ],
  ["an added file", { a: "1\n" }, (folder) => writeTree(folder, { "new/b": "one\ntwo\n" })],
  ["an added file without a line feed", {}, (folder) => writeTree(folder, { b: "one" })],
  [
    "an added executable file",
    {},
    (folder) => {
      writeTree(folder, { "run.sh": "#!/bin/sh\n" });
      chmodSync(join(folder, "run.sh"), 0o755);
    },
  ],
  ["a deleted file", { a: "1\n2\n", b: "1" }, (folder) => rmSync(join(folder, "a"))],
  ["an added empty file", { a: "1" }, (folder) => writeTree(folder, { e: "" })],
  ["a line feed added at the end", { a: "1\n2" }, (folder) => writeTree(folder, { a: "1\n2\n" })],
  ["a line feed removed at the end", { a: "1\n2\n" }, (folder) => writeTree(folder, { a: "1\n2" })],
  [
    "a last line changed without a line feed",
    { a: "1\n2" },
    (folder) => writeTree(folder, { a: "1\n3" }),
  ],
  ["a file that became empty", { a: "1\n2\n" }, (folder) => writeTree(folder, { a: "" })],
  ["a file that was empty", { a: "" }, (folder) => writeTree(folder, { a: "1\n" })],
  [
    "CRLF line endings",
    { a: "1\r\n2\r\n3\r\n" },
    (folder) => writeTree(folder, { a: "1\r\ntwo\r\n3\r\n" }),
  ],
  [
    "line endings changed to CRLF",
    { a: "1\n2\n" },
    (folder) => writeTree(folder, { a: "1\r\n2\r\n" }),
  ],
  [
    "lone carriage returns",
    { a: "1\r2\n3\n" },
    (folder) => writeTree(folder, { a: "1\rtwo\n3\n" }),
  ],
  ["a file made executable", { a: "1\n" }, (folder) => chmodSync(join(folder, "a"), 0o755)],
  [
    "a changed file made executable",
    { a: "1\n" },
    (folder) => {
      writeTree(folder, { a: "2\n" });
      chmodSync(join(folder, "a"), 0o755);
    },
  ],
  [
    "names with spaces",
    { "my file": "1\n", "in a/b": "1\n" },
    (folder) => writeTree(folder, { "my file": "2\n", "in a/b": "2\n", " new one": "3\n" }),
  ],
  [
    "names that are not ASCII",
    { "größe.txt": "1\n" },
    (folder) => writeTree(folder, { "größe.txt": "2\n", "日本/語": "3\n", "🦉": "4\n" }),
  ],
  [
    "names with quotes, backslashes and tabs",
    { 'a"b': "1\n", "c\\d": "1\n" },
    (folder) =>
      writeTree(folder, { 'a"b': "2\n", "c\\d": "2\n", "e\tf": "3\n", "\x01\x7f": "4\n" }),
  ],
  [
    "lines that look like a diff",
    { a: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n" },
    (folder) => writeTree(folder, { a: "--- a/y\n+++ b/x\n@@ -1 +1 @@\n-- \n" }),
  ],
  [
    "a byte order mark",
    { a: "\uFEFF1\n2\n" },
    (folder) => writeTree(folder, { a: "\uFEFF1\n3\n" }),
  ],
];

describe.each(["git", "patch"] as const)("a diff that %s applies", (program) => {
  test.each(CHANGES)("contains %s", (_, tree, change) => {
    const { before, after, diff } = createChange(tree, change);
    expect(applyWith(program, before, diff.toString())).toEqual(readTree(after));
  });

  test("contains all changes in one text, next to files without a patch", () => {
    const tree = Object.assign({}, ...CHANGES.map(([, part], index) => prefixTree(part, index)));
    const { before, after, diff } = createChange({ ...tree, "logo.png": "\0one" }, (folder) => {
      for (const [index, [, , change]] of CHANGES.entries()) {
        mkdirSync(join(folder, `${index}`), { recursive: true });
        change(join(folder, `${index}`));
      }
      writeTree(folder, { "logo.png": "\0two" });
    });
    const expected = { ...readTree(after), "logo.png": "\0one" };
    expect(applyWith(program, before, diff.toString())).toEqual(expected);
  });
});

function prefixTree(tree: Tree, index: number): Tree {
  return Object.fromEntries(Object.entries(tree).map(([path, text]) => [`${index}/${path}`, text]));
}

test.each(CHANGES)("a diff is printed as git prints it: %s", (_, tree, change) => {
  const { before, after, diff } = createChange(tree, change);
  const repository = temporaryTree();
  cpSync(before, repository, { recursive: true });
  runGit(repository, "init", "-q");
  runGit(repository, "add", "-A");
  runGit(repository, "commit", "-qm", "before", "--allow-empty");
  const git = join(repository, ".git");
  const args = ["--git-dir", git, "--work-tree", after];
  runGit(after, ...args, "add", "-A");
  const printed = runGit(after, ...args, "diff", "--cached", "--no-renames")
    .replace(/^index .*\n/gm, "")
    .replace(/^(@@ .* @@).*$/gm, "$1");
  expect(diff.toString()).toBe(printed);
});

describe("diffFolder()", () => {
  test("lists every file with its status, in the order of paths", () => {
    const { diff } = createChange({ b: "1\n", c: "2\n", same: "3" }, (folder) => {
      writeTree(folder, { a: "new\n", b: "1!\n" });
      rmSync(join(folder, "c"));
    });
    expect(diff.files.map(({ path, status }) => [path, status])).toEqual([
      ["a", "added"],
      ["b", "changed"],
      ["c", "deleted"],
    ]);
    expect(diff.files[1]?.patch).toBe(
      "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+1!\n",
    );
    expect(diff.files).toSatisfy(Object.isFrozen);
    expect(JSON.parse(JSON.stringify(diff))).toEqual({ files: diff.files });
  });

  test("is empty if nothing changed", () => {
    const { diff } = createChange({ a: "1", "b/c": null }, () => {});
    expect([diff.files, `${diff}`]).toEqual([[], ""]);
  });

  test("lists binary files, text that is not UTF-8, and files over 4 MiB without a patch", () => {
    const large = "x\n".repeat(2 * 1024 * 1024 + 1);
    const tree = { binary: "a\0b", latin1: Buffer.from([0xfc]), "large 1": large, gone: "\0" };
    const { diff } = createChange(tree, (folder) => {
      writeTree(folder, { binary: "a\0c", latin1: "ü", "large 1": `${large}y`, "ö.bin": "\0" });
      rmSync(join(folder, "gone"));
    });
    expect(diff.files).toEqual([
      { path: "binary", status: "changed", patch: null },
      { path: "gone", status: "deleted", patch: null },
      { path: "large 1", status: "changed", patch: null },
      { path: "latin1", status: "changed", patch: null },
      { path: "ö.bin", status: "added", patch: null },
    ]);
    expect(diff.toString()).toBe(
      [
        "Binary files a/binary and b/binary differ\n",
        "Binary files a/gone and /dev/null differ\n",
        "Binary files a/large 1 and b/large 1 differ\n",
        "Binary files a/latin1 and b/latin1 differ\n",
        'Binary files /dev/null and "b/\\303\\266.bin" differ\n',
      ].join(""),
    );
  });

  test("lists symlinks without following them", () => {
    const { diff } = createChange({ a: "1\n", "d/b": "2\n" }, (folder) => {
      rmSync(join(folder, "a"));
      rmSync(join(folder, "d"), { recursive: true });
      symlinkSync("/etc/passwd", join(folder, "a"));
      symlinkSync("/etc", join(folder, "d"));
      symlinkSync("/etc/shadow", join(folder, "new"));
    });
    expect(diff.files).toEqual([
      { path: "a", status: "changed", patch: null },
      { path: "d", status: "changed", patch: null },
      { path: "new", status: "added", patch: null },
    ]);
  });

  test("prints the actual modes where git has no distinction", () => {
    const { diff } = createChange({ a: "1\n" }, (folder) => chmodSync(join(folder, "a"), 0o600));
    expect(diff.toString()).toBe("diff --git a/a b/a\nold mode 100644\nnew mode 100600\n");
  });

  test("prints a deleted empty file as git does", () => {
    const { before, diff } = createChange({ e: "", a: "1" }, (folder) => rmSync(join(folder, "e")));
    expect(diff.toString()).toBe("diff --git a/e b/e\ndeleted file mode 100644\n");
    expect(applyWith("git", before, diff.toString())).toEqual({ a: "1" });
  });

  test("replaces the differing part as a whole if comparing the lines takes too long", () => {
    const many = (word: string) => Array.from({ length: 60_000 }, (_, at) => `${word}${at % 7}\n`);
    const { before, after, diff } = createChange(
      { a: ["start\n", ...many("x"), "end\n"].join("") },
      (folder) => writeTree(folder, { a: ["start\n", ...many("y").reverse(), "end\n"].join("") }),
    );
    expect(diff.toString().split("\n@@ ")).toHaveLength(2);
    expect(applyWith("git", before, diff.toString())).toEqual(readTree(after));
  });
});
