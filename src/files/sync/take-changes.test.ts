import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { takeChanges } from "./take-changes.ts";
import type { TakeOverTask } from "./take-over.ts";

const NOTHING = { deleted: [], prunes: false, gone: [], files: [], folders: [] };

interface Wanted extends Partial<Omit<TakeOverTask, "files">> {
  readonly files?: Readonly<Record<string, string>>;
}

/** What is asked for, its files waiting in a folder of their own. */
function taskOf(root: string, { files = {}, ...wanted }: Wanted): TakeOverTask {
  const stage = temporaryTree();
  const waiting = Object.entries(files).map(([path, text], place) => {
    const from = join(stage, String(place));
    writeFileSync(from, text);
    return [path, from] as const;
  });
  return { ...NOTHING, root, ...wanted, files: waiting };
}

/** So many that a thread is asked. */
const MANY = Array.from({ length: 50 }, (_, place) => `not-there-${place}`);

/** The same for few changes and for many: only the threads differ. */
describe.each([
  ["few", [] as readonly string[], 0],
  ["many", MANY, 1],
])("of %s changes", (_, more, threads) => {
  async function taken(root: string, wanted: Wanted) {
    const workers: Worker[] = [];
    const add = (worker: Worker) => workers.push(worker);
    process.on("worker", add);
    onTestFinished(() => void process.off("worker", add));
    const task = taskOf(root, { ...wanted, deleted: [...more, ...(wanted.deleted ?? [])] });
    const failed = await takeChanges(task);
    expect(workers).toHaveLength(threads);
    return failed;
  }

  const tree = (files: Tree) => temporaryTree(files);

  test("files come and go, and folders where they are told to", async () => {
    const root = tree({ "a.txt": "a", "b/c.txt": "c", "gone/in": null, "full/x.txt": "x" });
    const failed = await taken(root, {
      deleted: ["b/c.txt"],
      gone: ["gone/in", "gone", "full"],
      files: { "a.txt": "new", "b/deep/er.txt": "er" },
      folders: ["made", "made/in"],
    });
    expect(failed).toEqual([]);
    expect(filesIn(root)).toEqual({ "a.txt": "new", "b/deep/er.txt": "er", "full/x.txt": "x" });
    expect(readdirSync(root).sort()).toEqual(["a.txt", "b", "full", "made"]);
    expect(statSync(join(root, "made/in")).isDirectory()).toBe(true);
  });

  test("a folder goes with its last file only where that is asked for", async () => {
    const [pruned, kept] = [tree({ "a/b/c": "1", "a/d": "2" }), tree({ "a/b/c": "1" })];
    expect(await taken(pruned, { deleted: ["a/b/c"], prunes: true })).toEqual([]);
    expect(readdirSync(join(pruned, "a"))).toEqual(["d"]);
    const task = taskOf(kept, { deleted: ["a/b/c"] });
    expect(await takeChanges(task)).toEqual([]);
    expect(readdirSync(join(kept, "a"))).toEqual(["b"]);
  });

  test("what failed is told in the order of the changes, and the rest is done", async () => {
    const root = tree({ file: "f", "folder/x": "x" });
    const files = { "file/z": "1", "folder/y": "2", folder: "3", "file/a": "4", ok: "5" };
    const failed = await taken(root, { files, folders: ["file", "file/in", "fine"] });
    expect(failed.map(({ path }) => path)).toEqual([
      ...["file/z", "folder", "file/a", "file", "file/in"],
    ]);
    for (const { reason } of failed) expect(reason).toMatch(/^(?:EEXIST|ENOTDIR|ENOTEMPTY): /);
    expect(filesIn(root)).toEqual({ file: "f", "folder/x": "x", "folder/y": "2", ok: "5" });
    expect(existsSync(join(root, "fine"))).toBe(true);
  });

  test("nothing goes through a link that leads out, and a link to within is as good as a folder", async () => {
    const outside = tree({ "a.txt": "theirs" });
    const root = tree({ "in/a.txt": "a" });
    symlinkSync(outside, join(root, "out"));
    symlinkSync("in", join(root, "within"));
    symlinkSync(join(outside, "a.txt"), join(root, "link"));
    const files = { "out/a.txt": "evil", "out/new/b": "evil", "within/b.txt": "b", link: "mine" };
    const failed = await taken(root, { deleted: ["out/a.txt"], files, folders: ["out/made/in"] });
    expect(failed.map(({ path }) => path)).toEqual([
      ...["out/a.txt", "out/a.txt", "out/new/b", "out/made/in"],
    ]);
    for (const { reason } of failed) {
      expect(reason).toBe("a symlink above it leads out of the workspace");
    }
    expect(filesIn(outside)).toEqual({ "a.txt": "theirs" });
    expect(readdirSync(outside)).toEqual(["a.txt"]);
    expect(filesIn(join(root, "in"))).toEqual({ "a.txt": "a", "b.txt": "b" });
    expect(lstatSync(join(root, "link")).isFile()).toBe(true);
    expect(readlinkSync(join(root, "out"))).toBe(outside);
  });

  test("a file keeps the mode of what it replaces", async () => {
    const root = tree({ "run.sh": "a", "read.txt": "b" });
    chmodSync(join(root, "run.sh"), 0o750);
    await taken(root, { files: { "run.sh": "new", "read.txt": "new" } });
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o750);
    expect(statSync(join(root, "read.txt")).mode & 0o777).toBe(0o644);
  });

  test("a folder that was emptied makes way for a file, and a file for a folder", async () => {
    const root = tree({ "d/a.txt": "a", "f.txt": "f" });
    const files = { d: "a file", "f.txt/in/it": "in a folder" };
    expect(await taken(root, { deleted: ["d/a.txt", "f.txt"], files })).toEqual([]);
    expect(filesIn(root)).toEqual({ d: "a file", "f.txt/in/it": "in a folder" });
  });

  test("a folder that is to be deleted as a file stays", async () => {
    const root = tree({ "d/a.txt": "a" });
    expect(await taken(root, { deleted: ["d"], prunes: true })).toEqual([]);
    expect(filesIn(root)).toEqual({ "d/a.txt": "a" });
  });
});

test("changes whose root is gone fail one by one", async () => {
  const root = join(temporaryTree(), "gone");
  const failed = await takeChanges(taskOf(root, { deleted: ["a"], files: { b: "b" } }));
  expect(failed.map(({ path }) => path)).toEqual(["a", "b"]);
  expect(failed[0]?.reason).toContain("ENOENT");
});

test("changes fail if their thread is killed", async () => {
  process.once("worker", (worker) => void worker.terminate());
  const root = temporaryTree({ "a.txt": "a" });
  await expect(takeChanges(taskOf(root, { deleted: MANY }))).rejects.toThrow(
    "The thread that takes files over ended before it was done: what is missing is fetched again, try again",
  );
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a");
});

const otherDisk = "/dev/shm";
const isOther =
  existsSync(otherDisk) && statSync(otherDisk).dev !== statSync(dirname(import.meta.filename)).dev;

test.skipIf(!isOther)("files come from another disk, and leave nothing beside them", async () => {
  const root = mkdtempSync(join(otherDisk, "wink-test-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "d"));
  writeFileSync(join(root, "d/a.txt"), "a");
  const task = taskOf(root, { files: { "d/a.txt": "new", "b.txt": "b" } });
  const files = [...task.files, ["c.txt", join(root, "not-there")] as const];
  const failed = await takeChanges({ ...task, files });
  expect(failed).toMatchObject([{ path: "c.txt", reason: expect.stringContaining("ENOENT") }]);
  expect(filesIn(root)).toEqual({ "b.txt": "b", "d/a.txt": "new" });
  expect(readdirSync(join(root, "d"))).toEqual(["a.txt"]);
});
