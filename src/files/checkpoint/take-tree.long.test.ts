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
import { CheckpointHere } from "../../../tests/support/checkpoint-here.ts";
import { asPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { treePicture } from "../../../tests/support/tree-picture.ts";

/** What was copied, by name: a copy that is made anew is another file. */
const inodesIn = (copies: string) =>
  new Map(readdirSync(copies).map((name) => [name, lstatSync(join(copies, name)).ino]));

const refusal = (path: string, code: string, problem: string) =>
  expect.objectContaining({
    name: "FilesystemError",
    code,
    path,
    message: expect.stringContaining(problem),
  });

describe("taking a checkpoint again", () => {
  test.each([
    { knownBy: "bytes", ahead: 0, length: 500 },
    { knownBy: "times", ahead: 3_600_000, length: 5_000 },
  ])(
    "copies none of $length files that are known by their $knownBy to be as they were",
    (each) => {
      const { ahead, length } = each;
      const paths = Array.from({ length }, (_, index) => `${index % 50}/${index}`);
      const folder = temporaryTree(Object.fromEntries(paths.map((path) => [path, path])));
      const copies = temporaryTree();
      const checkpoint = new CheckpointHere(folder, { copies, now: () => Date.now() + ahead });
      checkpoint.take();
      const before = inodesIn(copies);
      expect(before.size).toBe(length);
      checkpoint.take();
      expect(inodesIn(copies)).toEqual(before);
      expect(checkpoint.restore()).toEqual({ restored: [], removed: [], failed: [] });
    },
    60_000,
  );

  test("copies what has changed only, and drops old copies once they are of no use", () => {
    const folder = temporaryTree({ a: "1", b: "2", c: "3" });
    const copies = temporaryTree();
    const checkpoint = new CheckpointHere(folder, { copies });
    checkpoint.take();
    const first = inodesIn(copies);
    appendFileSync(join(folder, "a"), "more");
    rmSync(join(folder, "b"));
    chmodSync(join(folder, "c"), 0o600);
    checkpoint.take();
    const second = inodesIn(copies);
    expect([...second].filter(([name]) => !first.has(name))).toHaveLength(1);
    checkpoint.take();
    expect(inodesIn(copies).size).toBe(2);
    expect([...inodesIn(copies)].every(([name, inode]) => second.get(name) === inode)).toBe(true);
  });

  test("copies large files too, and what has become shorter or longer", () => {
    const folder = temporaryTree({ large: "" });
    const large = join(folder, "large");
    writeFileSync(large, Buffer.alloc(9_000_000, "0123456789abc"));
    const checkpoint = new CheckpointHere(folder, { copies: temporaryTree() });
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

describe("nothing is taken", () => {
  test.each(["file", "folder"])("where a %s may not be read, and nothing is left", async (kind) => {
    const folder = temporaryTree({ "deep/file": "1", "deep/folder/a": "2" });
    const copies = temporaryTree();
    for (const path of [folder, copies]) chmodSync(path, 0o777);
    const closed = join(folder, "deep", kind);
    chmodSync(closed, 0o000);
    const checkpoint = new CheckpointHere(folder, { copies });
    await asPlainUser(() => {
      const problem =
        "is not open to this user: a checkpoint has a copy of everything, so let this user read it";
      expect(() => checkpoint.take()).toThrow(refusal(closed, "EACCES", problem));
    });
    expect(readdirSync(copies)).toEqual([]);
    expect(checkpoint.records).toBeNull();
    chmodSync(closed, 0o755);
    checkpoint.take();
    expect(readdirSync(copies)).toHaveLength(2);
  });

  test("where there is no folder, or no place for copies", () => {
    const folder = temporaryTree({ gone: null });
    const copies = temporaryTree();
    const checkpoint = new CheckpointHere(join(folder, "gone"), { copies });
    rmSync(join(folder, "gone"), { recursive: true });
    expect(() => checkpoint.take()).toThrow(
      refusal(join(folder, "gone"), "ENOENT", "a checkpoint is taken of a folder that is there"),
    );
    writeFileSync(join(folder, "gone"), "");
    expect(() => checkpoint.take()).toThrow(
      refusal(join(folder, "gone"), "ENOTDIR", "is not a folder"),
    );
    rmSync(copies, { recursive: true });
    expect(() => checkpoint.take()).toThrow(
      refusal(copies, "ENOENT", "the copy of the folder is lost, so make a new checkpoint"),
    );
  });

  test("by who is told to stop, and what was taken before stays", () => {
    const folder = temporaryTree({ a: "1" });
    const copies = temporaryTree();
    const checkpoint = new CheckpointHere(folder, { copies });
    checkpoint.take();
    const before = treePicture(folder);
    writeFileSync(join(folder, "a"), "2");
    const stopped = new CheckpointHere(folder, { copies });
    stopped.records = checkpoint.records;
    stopped.stop.set();
    expect(() => stopped.take()).toThrow("It was told to stop");
    expect(() => stopped.restore()).toThrow("It was told to stop");
    checkpoint.restore();
    expect(treePicture(folder)).toEqual(before);
  });
});

describe("what somebody changes all the while", () => {
  test.each([
    ["a file that grows", 'fs.appendFileSync(at("busy"), "x")'],
    ["a file that comes and goes", 'fs.writeFileSync(at("b"), "x"); fs.rmSync(at("b"))'],
    [
      "what is now a file, now a folder or a link",
      `
        fs.writeFileSync(at("b"), "x"); fs.rmSync(at("b"));
        fs.mkdirSync(at("b")); fs.rmdirSync(at("b"));
        fs.symlinkSync("/", at("b")); fs.rmSync(at("b"));
      `,
    ],
  ])("is taken as it is found: %s", async (_, change) => {
    const many = Array.from({ length: 200 }, (_, index) => [`many-${index}`, ""]);
    const folder = temporaryTree({ busy: "start", quiet: "1", ...Object.fromEntries(many) });
    await changing(folder, change);
    const checkpoint = new CheckpointHere(folder, { copies: temporaryTree() });
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

/** Until the test is over. */
async function changing(folder: string, change: string): Promise<void> {
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
