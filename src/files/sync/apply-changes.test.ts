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
import { applyChanges } from "./apply-changes.ts";
import type { ApplyChangesTask } from "./apply-changes-sync.ts";

const NO_CHANGES: Omit<ApplyChangesTask, "root"> = {
  deleted: [],
  pruneFolders: false,
  removedFolders: [],
  files: [],
  folders: [],
};

interface ChangeOptions extends Partial<Omit<ApplyChangesTask, "files">> {
  readonly files?: Readonly<Record<string, string>>;
}

/** Creates a task and writes its new files to a staging folder. */
function createTask(root: string, { files = {}, ...wanted }: ChangeOptions): ApplyChangesTask {
  const stage = temporaryTree();
  const waiting = Object.entries(files).map(([path, text], place) => {
    const from = join(stage, String(place));
    writeFileSync(from, text);
    return [path, from] as const;
  });
  return { ...NO_CHANGES, root, ...wanted, files: waiting };
}

/** Enough changes to use a thread. */
const MANY = Array.from({ length: 50 }, (_, place) => `not-there-${place}`);

/** Runs every test without and with a thread. */
describe.each([
  ["few", [] as readonly string[], 0],
  ["many", MANY, 1],
])("applying %s changes", (_, more, threads) => {
  async function runChanges(root: string, wanted: ChangeOptions) {
    const workers: Worker[] = [];
    const add = (worker: Worker) => workers.push(worker);
    process.on("worker", add);
    onTestFinished(() => void process.off("worker", add));
    const task = createTask(root, { ...wanted, deleted: [...more, ...(wanted.deleted ?? [])] });
    const failed = await applyChanges(task);
    expect(workers).toHaveLength(threads);
    return failed;
  }

  const createTree = (files: Tree) => temporaryTree(files);

  test("writes and deletes files and folders", async () => {
    const root = createTree({ "a.txt": "a", "b/c.txt": "c", "gone/in": null, "full/x.txt": "x" });
    const failed = await runChanges(root, {
      deleted: ["b/c.txt"],
      removedFolders: ["gone/in", "gone", "full"],
      files: { "a.txt": "new", "b/deep/er.txt": "er" },
      folders: ["made", "made/in"],
    });
    expect(failed).toEqual([]);
    expect(filesIn(root)).toEqual({ "a.txt": "new", "b/deep/er.txt": "er", "full/x.txt": "x" });
    expect(readdirSync(root).sort()).toEqual(["a.txt", "b", "full", "made"]);
    expect(statSync(join(root, "made/in")).isDirectory()).toBe(true);
  });

  test("removes a folder with its last file only if pruning is enabled", async () => {
    const [pruned, kept] = [createTree({ "a/b/c": "1", "a/d": "2" }), createTree({ "a/b/c": "1" })];
    expect(await runChanges(pruned, { deleted: ["a/b/c"], pruneFolders: true })).toEqual([]);
    expect(readdirSync(join(pruned, "a"))).toEqual(["d"]);
    const task = createTask(kept, { deleted: ["a/b/c"] });
    expect(await applyChanges(task)).toEqual([]);
    expect(readdirSync(join(kept, "a"))).toEqual(["b"]);
  });

  test("reports failures in order and applies the rest", async () => {
    const root = createTree({ file: "f", "folder/x": "x" });
    const files = { "file/z": "1", "folder/y": "2", folder: "3", "file/a": "4", ok: "5" };
    const failed = await runChanges(root, { files, folders: ["file", "file/in", "fine"] });
    expect(failed.map(({ path }) => path)).toEqual([
      ...["file/z", "folder", "file/a", "file", "file/in"],
    ]);
    for (const { reason } of failed) expect(reason).toMatch(/^(?:EEXIST|ENOTDIR|ENOTEMPTY): /);
    expect(filesIn(root)).toEqual({ file: "f", "folder/x": "x", "folder/y": "2", ok: "5" });
    expect(existsSync(join(root, "fine"))).toBe(true);
  });

  test("rejects symlinks that lead out of the root, and follows symlinks that stay inside", async () => {
    const outside = createTree({ "a.txt": "theirs" });
    const root = createTree({ "in/a.txt": "a" });
    symlinkSync(outside, join(root, "out"));
    symlinkSync("in", join(root, "within"));
    symlinkSync(join(outside, "a.txt"), join(root, "link"));
    const files = { "out/a.txt": "evil", "out/new/b": "evil", "within/b.txt": "b", link: "mine" };
    const failed = await runChanges(root, {
      deleted: ["out/a.txt"],
      files,
      folders: ["out/made/in"],
    });
    expect(failed.map(({ path }) => path)).toEqual([
      ...["out/a.txt", "out/a.txt", "out/new/b", "out/made/in"],
    ]);
    for (const { reason } of failed) {
      expect(reason).toBe(
        "A symlink above it leads out of the workspace. Replace it with a folder.",
      );
    }
    expect(filesIn(outside)).toEqual({ "a.txt": "theirs" });
    expect(readdirSync(outside)).toEqual(["a.txt"]);
    expect(filesIn(join(root, "in"))).toEqual({ "a.txt": "a", "b.txt": "b" });
    expect(lstatSync(join(root, "link")).isFile()).toBe(true);
    expect(readlinkSync(join(root, "out"))).toBe(outside);
  });

  test("preserves the mode of a replaced file", async () => {
    const root = createTree({ "run.sh": "a", "read.txt": "b" });
    chmodSync(join(root, "run.sh"), 0o750);
    await runChanges(root, { files: { "run.sh": "new", "read.txt": "new" } });
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o750);
    expect(statSync(join(root, "read.txt")).mode & 0o777).toBe(0o644);
  });

  test("replaces an emptied folder with a file, and a deleted file with a folder", async () => {
    const root = createTree({ "d/a.txt": "a", "f.txt": "f" });
    const files = { d: "a file", "f.txt/in/it": "in a folder" };
    expect(await runChanges(root, { deleted: ["d/a.txt", "f.txt"], files })).toEqual([]);
    expect(filesIn(root)).toEqual({ d: "a file", "f.txt/in/it": "in a folder" });
  });

  test("does not delete a folder listed as a file", async () => {
    const root = createTree({ "d/a.txt": "a" });
    expect(await runChanges(root, { deleted: ["d"], pruneFolders: true })).toEqual([]);
    expect(filesIn(root)).toEqual({ "d/a.txt": "a" });
  });
});

test("applying changes to a missing root fails for each change", async () => {
  const root = join(temporaryTree(), "gone");
  const failed = await applyChanges(createTask(root, { deleted: ["a"], files: { b: "b" } }));
  expect(failed.map(({ path }) => path)).toEqual(["a", "b"]);
  expect(failed[0]?.reason).toContain("ENOENT");
});

test("applying changes fails if the thread is killed", async () => {
  process.once("worker", (worker) => void worker.terminate());
  const root = temporaryTree({ "a.txt": "a" });
  await expect(applyChanges(createTask(root, { deleted: MANY }))).rejects.toThrow(
    "The thread that applies file changes ended early. Try again; missing files are downloaded again",
  );
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a");
});

const otherDisk = "/dev/shm";
const isOther =
  existsSync(otherDisk) && statSync(otherDisk).dev !== statSync(dirname(import.meta.filename)).dev;

test.skipIf(!isOther)(
  "applying changes moves files from another disk and leaves no temporary files",
  async () => {
    const root = mkdtempSync(join(otherDisk, "wink-test-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    mkdirSync(join(root, "d"));
    writeFileSync(join(root, "d/a.txt"), "a");
    const task = createTask(root, { files: { "d/a.txt": "new", "b.txt": "b" } });
    const files = [...task.files, ["c.txt", join(root, "not-there")] as const];
    const failed = await applyChanges({ ...task, files });
    expect(failed).toMatchObject([{ path: "c.txt", reason: expect.stringContaining("ENOENT") }]);
    expect(filesIn(root)).toEqual({ "b.txt": "b", "d/a.txt": "new" });
    expect(readdirSync(join(root, "d"))).toEqual(["a.txt"]);
  },
);
