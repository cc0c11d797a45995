import {
  appendFileSync,
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeTree } from "../../../tests/support/describe-tree.ts";
import { InlineCheckpoint } from "../../../tests/support/inline-checkpoint.ts";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";

/** Returns the inode of every copy by name: a new copy has another inode. */
const readInodes = (copies: string) =>
  new Map(readdirSync(copies).map((name) => [name, lstatSync(join(copies, name)).ino]));

const matchError = (path: string, code: string, problem: string) =>
  expect.objectContaining({
    name: "FilesystemError",
    code,
    path,
    message: expect.stringContaining(problem),
  });

describe("a repeated capture", () => {
  test.each([
    { knownBy: "bytes", ahead: 0, length: 500 },
    { knownBy: "times", ahead: 3_600_000, length: 5_000 },
  ])(
    "copies no file again if all $length are unchanged according to their $knownBy",
    (each) => {
      const { ahead, length } = each;
      const paths = Array.from({ length }, (_, index) => `${index % 50}/${index}`);
      const folder = temporaryTree(Object.fromEntries(paths.map((path) => [path, path])));
      const copies = temporaryTree();
      const checkpoint = new InlineCheckpoint(folder, { copies, now: () => Date.now() + ahead });
      checkpoint.take();
      const before = readInodes(copies);
      expect(before.size).toBe(length);
      checkpoint.take();
      expect(readInodes(copies)).toEqual(before);
      expect(checkpoint.restore()).toEqual({ restored: [], removed: [], failed: [] });
    },
    60_000,
  );

  test("copies only changed files, and removes copies that are no longer needed", () => {
    const folder = temporaryTree({ a: "1", b: "2", c: "3" });
    const copies = temporaryTree();
    const checkpoint = new InlineCheckpoint(folder, { copies });
    checkpoint.take();
    const first = readInodes(copies);
    appendFileSync(join(folder, "a"), "more");
    rmSync(join(folder, "b"));
    chmodSync(join(folder, "c"), 0o600);
    checkpoint.take();
    const second = readInodes(copies);
    expect([...second].filter(([name]) => !first.has(name))).toHaveLength(1);
    checkpoint.take();
    expect(readInodes(copies).size).toBe(2);
    expect([...readInodes(copies)].every(([name, inode]) => second.get(name) === inode)).toBe(true);
  });

  test("copies large files and files that became shorter or longer", () => {
    const folder = temporaryTree({ large: "" });
    const large = join(folder, "large");
    writeFileSync(large, Buffer.alloc(9_000_000, "0123456789abc"));
    const checkpoint = new InlineCheckpoint(folder, { copies: temporaryTree() });
    checkpoint.take();
    const before = readFileSync(large);
    for (const change of [
      () => truncateSync(large, 5),
      () => appendFileSync(large, "x"),
      () => writeFileSync(large, Buffer.from(before).fill("y", 8_999_999)),
    ]) {
      change();
      expect(checkpoint.restore().restored).toEqual(["large"]);
      expect(readFileSync(large).equals(before)).toBe(true);
    }
  });
});

describe("a capture fails", () => {
  test.each(["file", "folder"])("if a %s is not readable, and leaves no copies", async (kind) => {
    const folder = temporaryTree({ "deep/file": "1", "deep/folder/a": "2" });
    const copies = temporaryTree();
    for (const path of [folder, copies]) chmodSync(path, 0o777);
    const closed = join(folder, "deep", kind);
    chmodSync(closed, 0o000);
    const checkpoint = new InlineCheckpoint(folder, { copies });
    await runAsPlainUser(() => {
      const problem = "is not accessible to this user. Let this user read it";
      expect(() => checkpoint.take()).toThrow(matchError(closed, "EACCES", problem));
    });
    expect(readdirSync(copies)).toEqual([]);
    expect(checkpoint.records).toBeNull();
    chmodSync(closed, 0o755);
    checkpoint.take();
    expect(readdirSync(copies)).toHaveLength(2);
  });

  test("if the folder or the folder for copies is missing", () => {
    const folder = temporaryTree({ gone: null });
    const copies = temporaryTree();
    const checkpoint = new InlineCheckpoint(join(folder, "gone"), { copies });
    rmSync(join(folder, "gone"), { recursive: true });
    expect(() => checkpoint.take()).toThrow(
      matchError(join(folder, "gone"), "ENOENT", "Create the folder before taking a checkpoint."),
    );
    writeFileSync(join(folder, "gone"), "");
    expect(() => checkpoint.take()).toThrow(
      matchError(join(folder, "gone"), "ENOTDIR", "is not a folder"),
    );
    rmSync(copies, { recursive: true });
    expect(() => checkpoint.take()).toThrow(
      matchError(
        copies,
        "ENOENT",
        "Create a new checkpoint, because the copy of the folder is lost",
      ),
    );
  });

  test("if it is stopped, and keeps the previous checkpoint", () => {
    const folder = temporaryTree({ a: "1" });
    const copies = temporaryTree();
    const checkpoint = new InlineCheckpoint(folder, { copies });
    checkpoint.take();
    const before = describeTree(folder);
    writeFileSync(join(folder, "a"), "2");
    const stopped = new InlineCheckpoint(folder, { copies });
    stopped.records = checkpoint.records;
    stopped.stop.set();
    expect(() => stopped.take()).toThrow("A stop was requested");
    expect(() => stopped.restore()).toThrow("A stop was requested");
    checkpoint.restore();
    expect(describeTree(folder)).toEqual(before);
  });
});

describe("a capture during constant changes", () => {
  test.each([
    ["a file that grows", 'fs.appendFileSync(at("busy"), "x")'],
    [
      "a file that is repeatedly created and removed",
      'fs.writeFileSync(at("b"), "x"); fs.rmSync(at("b"))',
    ],
    [
      "an entry that changes between file, folder and symlink",
      `
        fs.writeFileSync(at("b"), "x"); fs.rmSync(at("b"));
        fs.mkdirSync(at("b")); fs.rmdirSync(at("b"));
        fs.symlinkSync("/", at("b")); fs.rmSync(at("b"));
      `,
    ],
  ])("captures the state it finds: %s", async (_, change) => {
    const many = Array.from({ length: 200 }, (_, index) => [`many-${index}`, ""]);
    const folder = temporaryTree({ busy: "start", quiet: "1", ...Object.fromEntries(many) });
    await startChanging(folder, change);
    const checkpoint = new InlineCheckpoint(folder, { copies: temporaryTree() });
    for (let count = 0; count < 10; count++) {
      try {
        checkpoint.take();
      } catch (error) {
        expect(error).toMatchObject({ name: "FilesystemError", path: join(folder, "b") });
      }
    }
    writeFileSync(join(folder, "quiet"), "2");
    checkpoint.restore();
    expect(readFileSync(join(folder, "quiet"), "utf8")).toBe("1");
  });
});

/** Changes the folder in a thread until the test ends. */
async function startChanging(folder: string, change: string): Promise<void> {
  const code = `
    const fs = require("node:fs");
    const at = (name) => ${JSON.stringify(folder)} + "/" + name;
    for (let count = 0; ; count++) {
      if (count === 1) require("node:worker_threads").parentPort.postMessage("ready");
      try { ${change} } catch {}
    }
  `;
  const worker = new Worker(code, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  await new Promise((resolve) => worker.once("message", resolve));
}
