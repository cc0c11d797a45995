import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type MountOptions, type MountReport, mount } from "./mount.ts";

let folder: string;
const lines: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wink-mount-"));
  lines.length = 0;
  vi.spyOn(console, "log").mockImplementation((line: string) => {
    lines.push(line);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function writeTestFile(path: string, text = "x\n"): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function captureText(options: Partial<MountOptions> = {}, path = folder): string {
  const none = {
    ...{ include: [], exclude: [], allowSecret: [] },
    ...{ followSymlinks: false, gitignore: false, json: false },
  };
  mount(path, { ...none, ...options });
  return lines.join("\n");
}

test("shows on a terminal that a folder is read, and removes the line even if it is rejected", () => {
  const shown: string[] = [];
  const terminal = { isTTY: true, write: (text: string) => shown.push(text) };
  const none = { include: [], exclude: [], allowSecret: [], followSymlinks: false };
  const options = { ...none, gitignore: false, json: false, maxBytes: 1 };
  writeTestFile("a.txt");
  expect(() => mount(folder, options, terminal)).toThrow("--max-bytes");
  expect(shown).toEqual(["\r\u001b[KReading the folder …", "\r\u001b[K"]);
});

function captureJson(options: Partial<MountOptions> = {}, path = folder): MountReport {
  return JSON.parse(captureText({ ...options, json: true }, path));
}

function catchError(options: Partial<MountOptions>, path = folder): unknown {
  try {
    captureText(options, path);
  } catch (error) {
    return error;
  }
  throw new Error("It was shown, and should have failed");
}

describe("wink mount", () => {
  test("lists files with their sizes, withheld files and files omitted by globs", () => {
    for (const path of ["src/a.py", "src/b.pyc", "lib/c.pyc", ".git/HEAD"]) writeTestFile(path);
    writeTestFile(".env", "KEY=1\n");
    expect(captureText({ exclude: [".git/*", "*.pyc"] })).toBe(
      `${folder.split("/").at(-1)}: 1 file, 2 bytes from ${folder}
  src/a.py 2

Withheld (use --allow-secret PATH to mount a key file)
  .env has a name that is common for key files

Omitted
  1 folder with all contents: --exclude ".git/*"
    .git
  2 files: --exclude "*.pyc"
    lib/c.pyc
    src/b.pyc

Nothing was copied or sent.`,
    );
  });

  test("mounts only included files and counts the others", () => {
    for (const path of ["a.csv", "deep/b.csv", "c.txt"]) writeTestFile(path);
    const { entries, leftOut, files, bytes } = captureJson({ include: ["*.csv"] });
    expect(entries).toEqual([
      { path: "a.csv", bytes: 2 },
      { path: "deep/b.csv", bytes: 2 },
    ]);
    expect({ files, bytes, leftOut }).toEqual({
      files: 2,
      bytes: 4,
      leftOut: [{ by: "not matched by --include", files: 1, folders: 0 }],
    });
  });

  test("mounts key files allowed by path or glob", () => {
    for (const path of [".env", "keys/a.pem", "keys/b.key"]) writeTestFile(path);
    expect(captureJson({ allowSecret: [".env", "*.pem"] })).toMatchObject({
      files: 2,
      withheld: [{ path: "keys/b.key" }],
    });
  });

  test("withholds a file that contains a private key, unless it is allowed", () => {
    const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(2);
    writeTestFile("notes.txt", `-----BEGIN PRIVATE KEY-----\n${body}\n`);
    writeTestFile("a.txt", "a\n");
    expect(captureJson()).toMatchObject({
      files: 1,
      bytes: 2,
      entries: [{ path: "a.txt", bytes: 2 }],
      withheld: [{ path: "notes.txt", reason: "contains a private key" }],
    });
    lines.length = 0;
    expect(captureText()).toContain("Withheld (use --allow-secret PATH to mount a key file)");
    lines.length = 0;
    expect(captureJson({ allowSecret: ["notes.txt"] })).toMatchObject({ files: 2, withheld: [] });
  });

  test("follows symlinks with --follow-symlinks, and counts them without it", () => {
    writeTestFile("real/a.txt");
    symlinkSync("real", join(folder, "again"));
    symlinkSync("nowhere", join(folder, "broken"));
    const by = "symlinks need --follow-symlinks";
    expect(captureJson()).toMatchObject({ files: 1, withheld: [], leftOut: [{ by, files: 2 }] });
    lines.length = 0;
    expect(captureJson({ followSymlinks: true })).toMatchObject({
      files: 2,
      withheld: [{ path: "broken", reason: "is a broken symlink" }],
      leftOut: [],
    });
    lines.length = 0;
    expect(captureJson({ followSymlinks: true, exclude: ["again/*"] }).leftOut).toEqual([
      { by: '--exclude "again/*"', files: 1, folders: 0 },
    ]);
  });

  test("names entries that are neither files nor folders, and invalid names", async () => {
    spawnSync("mkfifo", [join(folder, "pipe")]);
    const server = createServer().listen(join(folder, "socket"));
    await new Promise((listening) => server.once("listening", listening));
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/n`), Buffer.from([0x9b])]), "");
    expect(captureText()).not.toContain("--allow-secret");
    lines.length = 0;
    expect(captureJson().withheld).toEqual([
      { path: "n\uFFFD", reason: "has a name that is not valid UTF-8" },
      { path: "pipe", reason: "is a pipe" },
      { path: "socket", reason: "is a socket" },
    ]);
    lines.length = 0;
    expect(captureJson({ include: ["null"] }, "/dev").withheld).toEqual([
      { path: "null", reason: "is a device" },
    ]);
    await new Promise((closed) => server.close(closed));
  });

  test("lists 20 files and counts the rest", () => {
    for (let n = 0; n < 1_021; n++) writeTestFile(`${n}.txt`);
    expect(captureText()).toContain("\n  … and 1,001 more (use --json to list all)\n");
    expect(lines.filter((line) => line.endsWith(".txt 2"))).toHaveLength(20);
  });

  test("escapes control characters", () => {
    writeTestFile("a\u001b[31m\nb\u009b.txt");
    expect(captureText()).toContain("  a\\u{1b}[31m\\u{a}b\\u{9b}.txt 2");
  });

  test('accepts a single file, and names the root of the disk "."', () => {
    writeTestFile("key.pem");
    expect(captureJson({}, join(folder, "key.pem"))).toMatchObject({
      mountPath: "key.pem",
      files: 0,
      withheld: [{ path: "key.pem" }],
    });
    lines.length = 0;
    expect(captureJson({ allowSecret: ["key.pem"] }, join(folder, "key.pem")).entries).toEqual([
      { path: "key.pem", bytes: 2 },
    ]);
    lines.length = 0;
    expect(captureJson({ include: ["nothing"], exclude: ["*/*"] }, "/")).toMatchObject({
      mountPath: ".",
      files: 0,
    });
  });

  test("does not read a folder that is omitted as a whole, even if it is unreadable", () => {
    for (const path of ["open.txt", "open.log", "closed/a.log", "closed/b/c.txt"])
      writeTestFile(path);
    chmodSync(join(folder, "closed"), 0);
    expect(captureText({ exclude: ["closed/*", "*.log"] })).toContain(
      'Omitted\n  1 folder with all contents: --exclude "closed/*"\n    closed\n  1 file: --exclude "*.log"\n    open.log\n',
    );
    chmodSync(join(folder, "closed"), 0o700);
  });

  test("counts files and whole folders that one pattern omits", () => {
    for (const path of ["a/x/1", "b/x/2", "c/3"]) writeTestFile(path);
    expect(captureText({ exclude: ["*/*"] })).toContain("0 files, 0 bytes");
    lines.length = 0;
    writeTestFile("4");
    expect(captureText({ exclude: ["[ab]/*", "?"], include: ["c/*"] })).toContain(
      '\n  2 folders with all contents: --exclude "[ab]/*"\n',
    );
    lines.length = 0;
    expect(captureJson({ exclude: ["*"] }).leftOut).toEqual([
      { by: '--exclude "*"', files: 1, folders: 3 },
    ]);
  });

  test("lists everything that is not mounted, with reasons in terms of the flags", () => {
    for (const path of ["a.py", "b.log", "c.txt", "out/x", ".env"]) writeTestFile(path);
    symlinkSync("a.py", join(folder, "link"));
    const globs = { include: ["*.py", ".env"], exclude: ["*.log", "out/"] };
    expect(captureJson(globs)).toMatchObject({
      withheld: [{ path: ".env", reason: "has a name that is common for key files" }],
      skipped: [
        { path: ".env", reason: "has a name that is common for key files" },
        { path: "link", reason: "is a symlink" },
        { path: "b.log", reason: 'matches --exclude "*.log"' },
        { path: "c.txt", reason: "does not match --include" },
        { path: "out", reason: 'matches --exclude "out/"' },
      ],
      leftOut: [
        { by: "symlinks need --follow-symlinks", files: 1, folders: 0 },
        { by: '--exclude "*.log"', files: 1, folders: 0 },
        { by: "not matched by --include", files: 1, folders: 0 },
        { by: '--exclude "out/"', files: 0, folders: 1 },
      ],
      unmatched: [],
    });
  });

  test("lists five omitted files per rule and counts the rest", () => {
    for (let n = 0; n < 8; n++) writeTestFile(`${n}.log`);
    expect(captureText({ exclude: ["*.log"] })).toContain(
      '  8 files: --exclude "*.log"\n    0.log\n    1.log\n    2.log\n    3.log\n    4.log\n    … and 3 more (use --json to list all)\n',
    );
    lines.length = 0;
    expect(captureJson({ exclude: ["*.log"] }).skipped).toHaveLength(8);
  });

  test("names the globs that match nothing", () => {
    writeTestFile("a.py");
    const globs = { include: ["*.py", "*.md"], exclude: ["secrit", "\u001b"] };
    expect(captureText(globs)).toContain(
      '\nGlobs without a match\n  --include "*.md"\n  --exclude "secrit"\n  --exclude "\\u001b"\n',
    );
    lines.length = 0;
    expect(captureJson(globs).unmatched).toEqual(["*.md", "secrit", "\u001b"]);
  });

  test("omits what .gitignore files ignore with --gitignore", () => {
    for (const path of ["a.py", "b.log", "sub/c.tmp", ".git/HEAD"]) writeTestFile(path);
    writeTestFile(".gitignore", "*.log\n");
    writeTestFile("sub/.gitignore", "*.tmp\n");
    expect(captureText({ gitignore: true })).toContain(`
  .gitignore 6
  a.py 2
  sub/.gitignore 6

Omitted
  1 folder with all contents: belongs to git
    .git
  1 file: ignored by .gitignore
    b.log
  1 file: ignored by sub/.gitignore
    sub/c.tmp
`);
    lines.length = 0;
    expect(captureJson().files).toBe(6);
  });

  test.each([
    [
      { maxBytes: 1 },
      / is over its --max-bytes of 1: "maxBytes" brings it to 2\. Raise --max-bytes, or exclude files with --exclude\.$/,
    ],
    [{ include: [""] }, /^--include must be a non-empty string without NUL characters/],
    [{ exclude: ["a", "\0"] }, /^--exclude must be a non-empty string without NUL characters/],
    [{ allowSecret: [""] }, /^--allow-secret must be a non-empty string without NUL characters/],
    [
      { followSymlinks: true },
      /out", which is \/, leads out of PATH\. Exclude it with --exclude\.$/,
    ],
  ])("rejects %j and names the flags", (options, problem) => {
    writeTestFile("maxBytes");
    symlinkSync("/", join(folder, "out"));
    expect(catchError(options)).toMatchObject({ message: expect.stringMatching(problem) });
  });

  test("rejects a missing path or a symlink and names PATH", () => {
    expect(catchError({}, join(folder, "nope"))).toMatchObject({
      name: "FilesystemError",
      message: expect.stringMatching(/does not exist. Set PATH to a file or folder/),
    });
    symlinkSync(".", join(folder, "self"));
    expect(catchError({}, join(folder, "self"))).toMatchObject({
      name: "WorkspaceSecurityError",
      message: expect.stringMatching(
        /^PATH ".*" is a symlink to .*\. Mount the target, or set --follow-symlinks\.$/,
      ),
    });
  });
});
