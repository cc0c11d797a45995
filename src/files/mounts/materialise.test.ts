import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { asPlainUser, growTree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { WinkError } from "../../base/errors.ts";
import { planMounts } from "./mount-plan.ts";
import { materialise } from "./mounted-folder.ts";

/** Temporary folders are made in here, for this test. */
function temporaryFolders(): string {
  const folder = temporaryTree();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

const plan = (folder: string, maxBytes?: number) =>
  planMounts([{ hostPath: folder, mountPath: "in", maxBytes }], { allowedHostRoots: [folder] });

const WAIT = { interval: 1, timeout: 30_000 };

/** Resolves to the next thread that is started. */
const nextWorker = () =>
  new Promise<Worker>((resolve) => {
    process.once("worker", resolve);
  });

describe("materialised mounts", () => {
  test("that cannot be removed say which folder is left, and can be asked again", async () => {
    const folders = temporaryFolders();
    chmodSync(folders, 0o777);
    const tree = temporaryTree({ "a.txt": "1" });
    chmodSync(tree, 0o755);
    const mounts = await asPlainUser(() => materialise(plan(tree)));
    const theirs = join(mounts.directory, "theirs");
    growTree(theirs, { file: "of another user, where there is one" });
    chmodSync(folders, 0o555);
    await asPlainUser(async () => {
      await expect(mounts[Symbol.asyncDispose]()).rejects.toMatchObject({
        name: "FilesystemError",
        code: "EACCES",
        message: expect.stringContaining("remove this temporary folder by hand"),
      });
    });
    chmodSync(folders, 0o777);
    rmSync(theirs, { recursive: true, force: true });
    await asPlainUser(async () => await mounts[Symbol.asyncDispose]());
    expect(readdirSync(folders)).toEqual([]);
  });

  test("are in a temporary folder of this user's own", async () => {
    const folders = temporaryFolders();
    const tree = temporaryTree({ "a/b.txt": "hello", empty: null, "é😀": "" });
    const mounts = await materialise(plan(tree));
    expect(join(mounts.directory, "..")).toBe(folders);
    expect(statSync(mounts.directory).mode & 0o777).toBe(0o700);
    expect(
      execFileSync("diff", ["-r", tree, join(mounts.directory, "in")], { encoding: "utf8" }),
    ).toBe("");
    expect(readFileSync(join(mounts.directory, "in/a/b.txt"), "utf8")).toBe("hello");
    expect(mounts).toSatisfy(Object.isFrozen);
    await mounts[Symbol.asyncDispose]();
  });

  test("are gone when they are disposed of, once or twice", async () => {
    const folders = temporaryFolders();
    const mounts = await materialise(plan(temporaryTree({ "a/b": "1" })));
    writeFileSync(join(mounts.directory, "in/new"), "written later");
    await mounts[Symbol.asyncDispose]();
    expect(existsSync(mounts.directory)).toBe(false);
    await mounts[Symbol.asyncDispose]();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("are an empty folder if nothing was mounted", async () => {
    temporaryFolders();
    const mounts = await materialise(planMounts([], { allowedHostRoots: [] }));
    expect(readdirSync(mounts.directory)).toEqual([]);
    await mounts[Symbol.asyncDispose]();
  });

  test("of one plan are apart", async () => {
    const folders = temporaryFolders();
    const planned = plan(temporaryTree({ a: "1" }));
    const [one, other] = await Promise.all([materialise(planned), materialise(planned)]);
    expect(one.directory).not.toBe(other.directory);
    await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
    expect(readdirSync(folders)).toEqual([]);
  });
});

describe("mounts in a folder that was given", () => {
  test("are in it, and leave it empty when they are disposed of", async () => {
    const folders = temporaryFolders();
    const into = temporaryTree();
    const mounts = await materialise(plan(temporaryTree({ "a/b": "1", c: null })), { into });
    expect(mounts.directory).toBe(into);
    expect(readFileSync(join(into, "in/a/b"), "utf8")).toBe("1");
    writeFileSync(join(into, "new"), "written later");
    await mounts[Symbol.asyncDispose]();
    expect(readdirSync(into)).toEqual([]);
    await mounts[Symbol.asyncDispose]();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("leave it empty when they cannot be copied", async () => {
    const into = temporaryTree();
    const tree = temporaryTree({ a: "12", b: "34" });
    const planned = plan(tree);
    writeFileSync(join(tree, "b"), "changed");
    await expect(materialise(planned, { into })).rejects.toThrow("has changed since");
    expect(readdirSync(into)).toEqual([]);
  });

  test("say so if it cannot be emptied, and can be asked again", async () => {
    const above = temporaryTree({ into: null });
    const into = join(above, "into");
    chmodSync(above, 0o755);
    chmodSync(into, 0o777);
    const tree = temporaryTree({ a: "1" });
    chmodSync(tree, 0o755);
    const mounts = await asPlainUser(() => materialise(plan(tree), { into }));
    chmodSync(into, 0o555);
    chmodSync(above, 0o000);
    await asPlainUser(async () => {
      await expect(mounts[Symbol.asyncDispose]()).rejects.toMatchObject({
        name: "FilesystemError",
        path: into,
        message: expect.stringContaining("empty this folder by hand"),
      });
    });
    chmodSync(above, 0o755);
    chmodSync(into, 0o777);
    await asPlainUser(async () => await mounts[Symbol.asyncDispose]());
    expect(readdirSync(into)).toEqual([]);
  });

  test.each([
    ["is not empty", "folder", "EEXIST"],
    ["has a file where a folder must be", "folder/a", "ENOTDIR"],
    ["does not exist", "gone", "ENOENT"],
  ])("are not copied if it %s", async (problem, name, code) => {
    const into = join(temporaryTree({ "folder/a": "mine" }), name);
    const copying = materialise(plan(temporaryTree({ a: "1" })), { into });
    await expect(copying).rejects.toMatchObject({ name: "FilesystemError", code, path: into });
    await expect(copying).rejects.toThrow(`${problem}: mounts are copied into a new folder`);
  });
});

describe("nothing is left behind", () => {
  test("even if no thread lives long enough to remove it", async () => {
    const folders = temporaryFolders();
    const planned = plan(temporaryTree({ "a/b": "1" }));
    const mounts = await materialise(planned);
    const kill = (worker: Worker) => void worker.terminate();
    process.on("worker", kill);
    onTestFinished(() => void process.off("worker", kill));
    await mounts[Symbol.asyncDispose]();
    expect(readdirSync(folders)).toEqual([]);
    await expect(materialise(planned)).rejects.toThrow("ended before it was done");
    expect(readdirSync(folders)).toEqual([]);
  });

  test("by a mount one byte over its budget, planned or copied", async () => {
    const folders = temporaryFolders();
    const tree = temporaryTree({ a: "12", b: "34" });
    expect(() => plan(tree, 3)).toThrow("over its maxBytes of 3");
    const limits = [{ mountPath: "in", maxBytes: 3 }];
    await expect(materialise({ ...plan(tree), limits })).rejects.toMatchObject({
      name: "WorkspaceBudgetExceededError",
      message: expect.stringContaining('"in/b" brings it to 4'),
    });
    expect(readdirSync(folders)).toEqual([]);
    const mounts = await materialise(plan(tree, 4));
    await mounts[Symbol.asyncDispose]();
  });

  test("by a file that has changed", async () => {
    const folders = temporaryFolders();
    const tree = temporaryTree({ a: "12", b: "34" });
    const planned = plan(tree);
    writeFileSync(join(tree, "b"), "changed");
    await expect(materialise(planned)).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EINVAL",
      path: join(tree, "b"),
    });
    expect(readdirSync(folders)).toEqual([]);
  });

  test("by a file that may not be read", async () => {
    const folders = temporaryFolders();
    const tree = temporaryTree({ a: "12", b: "34" });
    for (const folder of [tree, folders]) chmodSync(folder, 0o777);
    chmodSync(join(tree, "b"), 0o000);
    const planned = plan(tree);
    await expect(asPlainUser(() => materialise(planned))).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EACCES",
      path: join(tree, "b"),
    });
    expect(readdirSync(folders)).toEqual([]);
  });

  test("by an abort while it copies, which is thrown on untouched", async () => {
    const folders = temporaryFolders();
    const tree = temporaryTree({ large: "" });
    truncateSync(join(tree, "large"), 8e9);
    const controller = new AbortController();
    const reason = { enough: true };
    const copying = materialise(plan(tree), { signal: controller.signal });
    const worker = await nextWorker();
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    await vi.waitFor(() => {
      const [folder = ""] = readdirSync(folders);
      expect(existsSync(join(folders, folder, "in/large"))).toBe(true);
    }, WAIT);
    controller.abort(reason);
    await expect(copying).rejects.toBe(reason);
    await exited;
    expect(readdirSync(folders)).toEqual([]);
  });

  test("by an abort before it starts", async () => {
    const folders = temporaryFolders();
    const signal = AbortSignal.abort("no");
    await expect(materialise(plan(temporaryTree()), { signal })).rejects.toBe("no");
    expect(readdirSync(folders)).toEqual([]);
  });

  test("by a thread that is killed, or cannot be told what to do", async () => {
    const folders = temporaryFolders();
    const planned = plan(temporaryTree({ a: "1" }));
    const copying = materialise(planned);
    const worker = await nextWorker();
    await worker.terminate();
    await expect(copying).rejects.toBeInstanceOf(WinkError);
    await expect(copying).rejects.toMatchObject({
      message: expect.stringContaining("ended before it was done"),
      cause: expect.objectContaining({
        message: expect.stringMatching(/^Its exit code was [01]$/),
      }),
    });
    await expect(materialise({ ...planned, files: [() => {}] as never })).rejects.toThrow("clone");
    await expect(materialise({ ...planned, files: 5 as never })).rejects.toThrow(TypeError);
    expect(readdirSync(folders)).toEqual([]);
  });
});
