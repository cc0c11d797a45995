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
import { runAsPlainUser, temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { WinkError } from "../../base/errors.ts";
import { materialize } from "./mounted-folder.ts";
import { planMounts } from "./plan-mounts.ts";

/** Sets TMPDIR to a new folder for this test and returns its path. */
function useTemporaryFolder(): string {
  const folder = temporaryTree();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

const createPlan = (folder: string, maxBytes?: number) =>
  planMounts([{ hostPath: folder, mountPath: "in", maxBytes }], { allowedHostRoots: [folder] });

const WAIT = { interval: 1, timeout: 30_000 };

/** Waits for the next thread that starts. */
const waitForWorker = () =>
  new Promise<Worker>((resolve) => {
    process.once("worker", resolve);
  });

describe("materialize()", () => {
  const empty = planMounts([], { allowedHostRoots: [] });

  test.each([
    [null, "materialize(plan) must be a plan, got null. Pass the result of planMounts()."],
    [undefined, "materialize(plan) must be a plan"],
    [{}, "materialize(plan).directories must be an array, got undefined."],
    [{ ...empty, files: null }, "materialize(plan).files must be an array, got null."],
    [{ ...empty, limits: 1 }, "materialize(plan).limits must be an array"],
    [{ ...empty, files: [null] }, "materialize(plan).files[0] must be a planned file, got null."],
    [{ ...empty, files: [{ hostPath: "/a" }] }, "materialize(plan).files[0] must be"],
  ])("rejects the plan %j", async (plan, message) => {
    await expect(materialize(plan as never)).rejects.toMatchObject({
      name: "InvalidOptionError",
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [null, "materialize(options) must be an object, got null."],
    [{ into: 5 }, "materialize(options).into must be the path of a folder, got 5."],
    [{ into: "" }, "materialize(options).into must be the path of a folder"],
    [{ signal: {} }, "materialize(options).signal must be an AbortSignal"],
  ])("rejects the options %j", async (options, message) => {
    await expect(materialize(empty, options as never)).rejects.toMatchObject({
      name: "InvalidOptionError",
      message: expect.stringContaining(message),
    });
  });

  test("names the folder that dispose could not remove, and dispose can be retried", async () => {
    const folders = useTemporaryFolder();
    chmodSync(folders, 0o777);
    const tree = temporaryTree({ "a.txt": "1" });
    chmodSync(tree, 0o755);
    const mounts = await runAsPlainUser(() => materialize(createPlan(tree)));
    const theirs = join(mounts.directory, "theirs");
    writeTree(theirs, { file: "of another user, where there is one" });
    chmodSync(folders, 0o555);
    await runAsPlainUser(async () => {
      await expect(mounts[Symbol.asyncDispose]()).rejects.toMatchObject({
        name: "FilesystemError",
        code: "EACCES",
        message: expect.stringContaining("Remove this temporary folder by hand"),
      });
    });
    chmodSync(folders, 0o777);
    rmSync(theirs, { recursive: true, force: true });
    await runAsPlainUser(async () => await mounts[Symbol.asyncDispose]());
    expect(readdirSync(folders)).toEqual([]);
  });

  test("copies to a private temporary folder", async () => {
    const folders = useTemporaryFolder();
    const tree = temporaryTree({ "a/b.txt": "hello", empty: null, "é😀": "" });
    const mounts = await materialize(createPlan(tree));
    expect(join(mounts.directory, "..")).toBe(folders);
    expect(statSync(mounts.directory).mode & 0o777).toBe(0o700);
    expect(
      execFileSync("diff", ["-r", tree, join(mounts.directory, "in")], { encoding: "utf8" }),
    ).toBe("");
    expect(readFileSync(join(mounts.directory, "in/a/b.txt"), "utf8")).toBe("hello");
    expect(mounts).toSatisfy(Object.isFrozen);
    await mounts[Symbol.asyncDispose]();
  });

  test("removes the folder on dispose, which can be repeated", async () => {
    const folders = useTemporaryFolder();
    const mounts = await materialize(createPlan(temporaryTree({ "a/b": "1" })));
    writeFileSync(join(mounts.directory, "in/new"), "written later");
    await mounts[Symbol.asyncDispose]();
    expect(existsSync(mounts.directory)).toBe(false);
    await mounts[Symbol.asyncDispose]();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("creates an empty folder for an empty plan", async () => {
    useTemporaryFolder();
    const mounts = await materialize(planMounts([], { allowedHostRoots: [] }));
    expect(readdirSync(mounts.directory)).toEqual([]);
    await mounts[Symbol.asyncDispose]();
  });

  test("creates a separate folder for each call with one plan", async () => {
    const folders = useTemporaryFolder();
    const planned = createPlan(temporaryTree({ a: "1" }));
    const [one, other] = await Promise.all([materialize(planned), materialize(planned)]);
    expect(one.directory).not.toBe(other.directory);
    await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
    expect(readdirSync(folders)).toEqual([]);
  });
});

describe("materialize() with into", () => {
  test("copies to the folder and empties it on dispose", async () => {
    const folders = useTemporaryFolder();
    const into = temporaryTree();
    const mounts = await materialize(createPlan(temporaryTree({ "a/b": "1", c: null })), { into });
    expect(mounts.directory).toBe(into);
    expect(readFileSync(join(into, "in/a/b"), "utf8")).toBe("1");
    writeFileSync(join(into, "new"), "written later");
    await mounts[Symbol.asyncDispose]();
    expect(readdirSync(into)).toEqual([]);
    await mounts[Symbol.asyncDispose]();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("empties the folder if copying fails", async () => {
    const into = temporaryTree();
    const tree = temporaryTree({ a: "12", b: "34" });
    const planned = createPlan(tree);
    writeFileSync(join(tree, "b"), "changed");
    await expect(materialize(planned, { into })).rejects.toThrow("has changed since");
    expect(readdirSync(into)).toEqual([]);
  });

  test("fails if dispose cannot empty the folder, and dispose can be retried", async () => {
    const above = temporaryTree({ into: null });
    const into = join(above, "into");
    chmodSync(above, 0o755);
    chmodSync(into, 0o777);
    const tree = temporaryTree({ a: "1" });
    chmodSync(tree, 0o755);
    const mounts = await runAsPlainUser(() => materialize(createPlan(tree), { into }));
    chmodSync(into, 0o555);
    chmodSync(above, 0o000);
    await runAsPlainUser(async () => {
      await expect(mounts[Symbol.asyncDispose]()).rejects.toMatchObject({
        name: "FilesystemError",
        path: into,
        message: expect.stringContaining("Empty this folder by hand"),
      });
    });
    chmodSync(above, 0o755);
    chmodSync(into, 0o777);
    await runAsPlainUser(async () => await mounts[Symbol.asyncDispose]());
    expect(readdirSync(into)).toEqual([]);
  });

  test.each([
    ["is not empty", "folder", "EEXIST"],
    ["has a file where a folder is expected", "folder/a", "ENOTDIR"],
    ["does not exist", "gone", "ENOENT"],
  ])("rejects a folder that %s", async (problem, name, code) => {
    const into = join(temporaryTree({ "folder/a": "mine" }), name);
    const copying = materialize(createPlan(temporaryTree({ a: "1" })), { into });
    await expect(copying).rejects.toMatchObject({ name: "FilesystemError", code, path: into });
    await expect(copying).rejects.toThrow(`${problem}. Pass an existing, empty folder as into`);
  });
});

describe("materialize() leaves no files behind", () => {
  test("even if every thread is killed", async () => {
    const folders = useTemporaryFolder();
    const planned = createPlan(temporaryTree({ "a/b": "1" }));
    const mounts = await materialize(planned);
    const kill = (worker: Worker) => void worker.terminate();
    process.on("worker", kill);
    onTestFinished(() => void process.off("worker", kill));
    await mounts[Symbol.asyncDispose]();
    expect(readdirSync(folders)).toEqual([]);
    await expect(materialize(planned)).rejects.toThrow("ended early");
    expect(readdirSync(folders)).toEqual([]);
  });

  test("after a mount exceeds its budget by one byte while planning or copying", async () => {
    const folders = useTemporaryFolder();
    const tree = temporaryTree({ a: "12", b: "34" });
    expect(() => createPlan(tree, 3)).toThrow("over its maxBytes of 3");
    const limits = [{ mountPath: "in", maxBytes: 3 }];
    await expect(materialize({ ...createPlan(tree), limits })).rejects.toMatchObject({
      name: "WorkspaceBudgetExceededError",
      message: expect.stringContaining('"in/b" brings it to 4'),
    });
    expect(readdirSync(folders)).toEqual([]);
    const mounts = await materialize(createPlan(tree, 4));
    await mounts[Symbol.asyncDispose]();
  });

  test("after a file has changed", async () => {
    const folders = useTemporaryFolder();
    const tree = temporaryTree({ a: "12", b: "34" });
    const planned = createPlan(tree);
    writeFileSync(join(tree, "b"), "changed");
    await expect(materialize(planned)).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EINVAL",
      path: join(tree, "b"),
    });
    expect(readdirSync(folders)).toEqual([]);
  });

  test("after a file could not be read", async () => {
    const folders = useTemporaryFolder();
    const tree = temporaryTree({ a: "12", b: "34" });
    for (const folder of [tree, folders]) chmodSync(folder, 0o777);
    chmodSync(join(tree, "b"), 0o000);
    const planned = createPlan(tree);
    await expect(runAsPlainUser(() => materialize(planned))).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EACCES",
      path: join(tree, "b"),
    });
    expect(readdirSync(folders)).toEqual([]);
  });

  test("after an abort while copying, whose reason it throws", async () => {
    const folders = useTemporaryFolder();
    const tree = temporaryTree({ large: "" });
    truncateSync(join(tree, "large"), 8e9);
    const controller = new AbortController();
    const reason = { enough: true };
    const copying = materialize(createPlan(tree), { signal: controller.signal });
    const worker = await waitForWorker();
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

  test("after an abort before it starts", async () => {
    const folders = useTemporaryFolder();
    const signal = AbortSignal.abort("no");
    await expect(materialize(createPlan(temporaryTree()), { signal })).rejects.toBe("no");
    expect(readdirSync(folders)).toEqual([]);
  });

  test("after its thread is killed or the plan cannot be cloned", async () => {
    const folders = useTemporaryFolder();
    const planned = createPlan(temporaryTree({ a: "1" }));
    const copying = materialize(planned);
    const worker = await waitForWorker();
    await worker.terminate();
    await expect(copying).rejects.toBeInstanceOf(WinkError);
    await expect(copying).rejects.toMatchObject({
      message: expect.stringContaining("ended early"),
      cause: expect.objectContaining({
        message: expect.stringMatching(/^Its exit code was [01]$/),
      }),
    });
    const files = planned.files.map((file) => ({ ...file, extra: () => {} }));
    await expect(materialize({ ...planned, files })).rejects.toThrow("clone");
    expect(readdirSync(folders)).toEqual([]);
  });
});

describe("materialize() of files with private keys", () => {
  const KEY = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(2)}\n`;

  test("withholds them and lists them with the reason", async () => {
    useTemporaryFolder();
    const folder = temporaryTree({ "a.txt": "a", "deploy/notes.txt": KEY });
    await using copied = await materialize(createPlan(folder));
    expect(copied.withheld).toEqual([
      { path: "in/deploy/notes.txt", reason: "contains a private key" },
    ]);
    expect(readdirSync(copied.directory, { recursive: true }).sort()).toEqual([
      "in",
      "in/a.txt",
      "in/deploy",
    ]);
  });

  test("copies those that allowSecrets names, by their path in the mount or the workspace", async () => {
    useTemporaryFolder();
    const folder = temporaryTree({ "one.txt": KEY, "two.txt": KEY, "three.txt": KEY });
    const plan = planMounts([{ hostPath: folder, mountPath: "in" }], {
      allowedHostRoots: [folder],
      allowSecrets: ["one.txt", "in/two.txt"],
    });
    await using copied = await materialize(plan);
    expect(copied.withheld.map(({ path }) => path)).toEqual(["in/three.txt"]);
    expect(readFileSync(join(copied.directory, "in/one.txt"), "utf8")).toBe(KEY);
  });

  test("copies a file whose key begins after the part that is searched", async () => {
    useTemporaryFolder();
    const folder = temporaryTree({ "log.txt": `${"x\n".repeat(10_000)}${KEY}` });
    await using copied = await materialize(createPlan(folder));
    expect(copied.withheld).toEqual([]);
  });
});
