import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type MountOptions, mount, type ShownMount } from "./mount.ts";

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

function write(path: string, text = "x\n"): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function told(options: Partial<MountOptions> = {}, path = folder): string {
  const none = { include: [], exclude: [], allowSecret: [], followSymlinks: false, json: false };
  mount(path, { ...none, ...options });
  return lines.join("\n");
}

function shown(options: Partial<MountOptions> = {}, path = folder): ShownMount {
  return JSON.parse(told({ ...options, json: true }, path));
}

function failure(options: Partial<MountOptions>, path = folder): unknown {
  try {
    told(options, path);
  } catch (error) {
    return error;
  }
  throw new Error("It was shown, and should have failed");
}

describe("wink mount", () => {
  test("shows files with their sizes, what is withheld and what the globs leave out", () => {
    for (const path of ["src/a.py", "src/b.pyc", "lib/c.pyc", ".git/HEAD"]) write(path);
    write(".env", "KEY=1\n");
    expect(told({ exclude: [".git/*", "*.pyc"] })).toBe(
      `${folder.split("/").at(-1)}: 1 file, 2 bytes, from ${folder}
  src/a.py 2

Withheld (--allow-secret, with its path, lets a key file in)
  .env is named as files are that keys are kept in

Left out
  1 folder with all below: --exclude ".git/*"
  2 files: --exclude "*.pyc"

Nothing was copied or sent.`,
    );
  });

  test("takes only what is included, and says how many files are not", () => {
    for (const path of ["a.csv", "deep/b.csv", "c.txt"]) write(path);
    const { entries, leftOut, files, bytes } = shown({ include: ["*.csv"] });
    expect(entries).toEqual([
      { path: "a.csv", bytes: 2 },
      { path: "deep/b.csv", bytes: 2 },
    ]);
    expect({ files, bytes, leftOut }).toEqual({
      files: 2,
      bytes: 4,
      leftOut: [{ by: "no --include has it", files: 1, folders: 0 }],
    });
  });

  test("lets key files in that are allowed by path or glob", () => {
    for (const path of [".env", "keys/a.pem", "keys/b.key"]) write(path);
    expect(shown({ allowSecret: [".env", "*.pem"] })).toMatchObject({
      files: 2,
      withheld: [{ path: "keys/b.key" }],
    });
  });

  test("follows symlinks when it is told to, and counts them when it is not", () => {
    write("real/a.txt");
    symlinkSync("real", join(folder, "again"));
    symlinkSync("nowhere", join(folder, "broken"));
    const by = "symlinks are not followed without --follow-symlinks";
    expect(shown()).toMatchObject({ files: 1, withheld: [], leftOut: [{ by, files: 2 }] });
    lines.length = 0;
    expect(shown({ followSymlinks: true })).toMatchObject({
      files: 2,
      withheld: [{ path: "broken", reason: "is a symlink that leads nowhere" }],
      leftOut: [],
    });
    lines.length = 0;
    expect(shown({ followSymlinks: true, exclude: ["again/*"] }).leftOut).toEqual([
      { by: '--exclude "again/*"', files: 1, folders: 0 },
    ]);
  });

  test("names what is neither a file nor a folder, and a name that is no text", async () => {
    spawnSync("mkfifo", [join(folder, "pipe")]);
    const server = createServer().listen(join(folder, "socket"));
    await new Promise((listening) => server.once("listening", listening));
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/n`), Buffer.from([0x9b])]), "");
    expect(told()).not.toContain("--allow-secret");
    lines.length = 0;
    expect(shown().withheld).toEqual([
      { path: "n\uFFFD", reason: "has a name that is no text" },
      { path: "pipe", reason: "is a pipe" },
      { path: "socket", reason: "is a socket" },
    ]);
    lines.length = 0;
    expect(shown({ include: ["null"] }, "/dev").withheld).toEqual([
      { path: "null", reason: "is a device" },
    ]);
    await new Promise((closed) => server.close(closed));
  });

  test("shows twenty files and counts the rest", () => {
    for (let n = 0; n < 1_021; n++) write(`${n}.txt`);
    expect(told()).toContain("\n  … and 1,001 more (--json lists all)\n");
    expect(lines.filter((line) => line.endsWith(".txt 2"))).toHaveLength(20);
  });

  test("prints no character that a terminal would obey", () => {
    write("a\u001b[31m\nb\u009b.txt");
    expect(told()).toContain("  a\\u{1b}[31m\\u{a}b\\u{9b}.txt 2");
  });

  test("takes a single file, and the root of the disk by the name of a dot", () => {
    write("key.pem");
    expect(shown({}, join(folder, "key.pem"))).toMatchObject({
      mountPath: "key.pem",
      files: 0,
      withheld: [{ path: "key.pem" }],
    });
    lines.length = 0;
    expect(shown({ allowSecret: ["key.pem"] }, join(folder, "key.pem")).entries).toEqual([
      { path: "key.pem", bytes: 2 },
    ]);
    lines.length = 0;
    expect(shown({ include: ["nothing"], exclude: ["*/*"] }, "/")).toMatchObject({
      mountPath: ".",
      files: 0,
    });
  });

  test("does not look into a folder that is left out whole, be it open or not", () => {
    for (const path of ["open.txt", "open.log", "closed/a.log", "closed/b/c.txt"]) write(path);
    chmodSync(join(folder, "closed"), 0);
    expect(told({ exclude: ["closed/*", "*.log"] })).toContain(
      'Left out\n  1 folder with all below: --exclude "closed/*"\n  1 file: --exclude "*.log"\n',
    );
    chmodSync(join(folder, "closed"), 0o700);
  });

  test("adds up files and whole folders that one pattern leaves out", () => {
    for (const path of ["a/x/1", "b/x/2", "c/3"]) write(path);
    expect(told({ exclude: ["*/*"] })).toContain("0 files, 0 bytes");
    lines.length = 0;
    write("4");
    expect(told({ exclude: ["[ab]/*", "?"], include: ["c/*"] })).toContain(
      '\n  2 folders with all below: --exclude "[ab]/*"\n',
    );
    lines.length = 0;
    expect(shown({ exclude: ["*"] }).leftOut).toEqual([
      { by: '--exclude "*"', files: 4, folders: 0 },
    ]);
  });

  test.each([
    [
      { maxBytes: 1 },
      / is over its --max-bytes of 1: "maxBytes" brings it to 2; raise --max-bytes, or leave files out by --exclude$/,
    ],
    [{ include: [""] }, /^--include must be a text that is not empty and holds no NUL/],
    [{ exclude: ["a", "\0"] }, /^--exclude must be a text that is not empty and holds no NUL/],
    [{ allowSecret: [""] }, /^--allow-secret must be a text that is not empty and holds no NUL/],
    [{ followSymlinks: true }, /out", which is \/, leads out of PATH: name it in --exclude$/],
  ])("refuses %j in the words of the command line", (options, problem) => {
    write("maxBytes");
    symlinkSync("/", join(folder, "out"));
    expect(failure(options)).toMatchObject({ message: expect.stringMatching(problem) });
  });

  test("refuses a path that is not there, or a symlink, in the words of the command line", () => {
    expect(failure({}, join(folder, "nope"))).toMatchObject({
      name: "FilesystemError",
      message: expect.stringMatching(/does not exist: PATH must name a file or folder/),
    });
    symlinkSync(".", join(folder, "self"));
    expect(failure({}, join(folder, "self"))).toMatchObject({
      name: "WorkspaceSecurityError",
      message: expect.stringMatching(
        /^PATH ".*" is a symlink to .*: mount that, or set --follow-symlinks$/,
      ),
    });
  });
});
