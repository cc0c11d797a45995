import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { describeTree } from "../../../tests/support/describe-tree.ts";
import { runAsPlainUser, temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { sweepAbandonedFolders } from "../../host/temporary-folder.ts";
import { FolderCheckpoint, type FolderCheckpointOptions } from "./folder-checkpoint.ts";

const WAIT = { interval: 1, timeout: 30_000 };

/** Sets TMPDIR to a new folder for this test and returns its path. */
function useTemporaryFolder(): string {
  const folder = temporaryTree();
  chmodSync(folder, 0o1777); // as /tmp
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

function createCheckpoint(folder: string, options?: FolderCheckpointOptions): FolderCheckpoint {
  const checkpoint = new FolderCheckpoint(folder, options);
  onTestFinished(() => checkpoint[Symbol.asyncDispose]());
  return checkpoint;
}

/** Lists all copies in a temporary folder by name. */
const listCopies = (temporary: string): readonly string[] =>
  readdirSync(temporary).flatMap((home) => readdirSync(join(temporary, home, "files")));

/** Writes files that take long enough to copy that a test can interfere. */
function writeLargeFiles(folder: string): void {
  const names = Array.from({ length: 40 }, (_, index) => `large-${index}`);
  writeTree(folder, Object.fromEntries(names.map((name) => [name, ""])));
  for (const name of names) truncateSync(join(folder, name), LARGE_BYTES);
}

const LARGE_BYTES = 5_000_000;

describe("FolderCheckpoint", () => {
  test("copies nothing until take(), and removes the copies on dispose", async () => {
    const temporary = useTemporaryFolder();
    const folder = temporaryTree({ "a/b": "1", empty: null });
    const before = describeTree(folder);
    const checkpoint = new FolderCheckpoint(folder);
    expect(checkpoint.folder).toBe(folder);
    expect(readdirSync(temporary)).toEqual([]);
    await checkpoint.take();
    expect(listCopies(temporary)).toHaveLength(1);
    rmSync(join(folder, "a"), { recursive: true });
    mkdirSync(join(folder, "empty/new"));
    const result = await checkpoint.restore();
    expect(result).toEqual({ restored: ["a/b", "a"], removed: ["empty/new"], failed: [] });
    expect(result).toSatisfy(Object.isFrozen);
    expect(describeTree(folder)).toEqual(before);
    await checkpoint[Symbol.asyncDispose]();
    await checkpoint[Symbol.asyncDispose]();
    expect(readdirSync(temporary)).toEqual([]);
    expect(describeTree(folder)).toEqual(before);
  });

  test("resolves a relative path and a symlink to the folder", async () => {
    const above = temporaryTree({ "folder/a": "1" });
    symlinkSync("folder", join(above, "link"));
    const checkpoint = createCheckpoint(relative(process.cwd(), join(above, "link")));
    await checkpoint.take();
    writeFileSync(join(above, "folder/a"), "2");
    expect((await checkpoint.restore()).restored).toEqual(["a"]);
    expect(readFileSync(join(above, "folder/a"), "utf8")).toBe("1");
    expect(lstatSync(join(above, "link")).isSymbolicLink()).toBe(true);
  });

  test("runs concurrent calls one at a time, in order", async () => {
    const folder = temporaryTree({ a: "1" });
    const checkpoint = createCheckpoint(folder);
    const [, first, , second] = await Promise.all([
      checkpoint.take(),
      checkpoint.restore(),
      checkpoint.take(),
      checkpoint.restore(),
    ]);
    expect([first.failed, second.failed]).toEqual([[], []]);
  });

  test("does not block the event loop while it copies many files", async () => {
    const paths = Array.from({ length: 1_000 }, (_, index) => `${index % 30}/${index}`);
    const folder = temporaryTree(Object.fromEntries(paths.map((path) => [path, "x"])));
    const checkpoint = createCheckpoint(folder);
    let isTaken = false;
    let turns = 0;
    const taking = checkpoint.take().finally(() => {
      isTaken = true;
    });
    while (!isTaken) {
      await new Promise(setImmediate);
      turns += 1;
    }
    await taking;
    expect(turns).toBeGreaterThan(100);
  });
});

describe("FolderCheckpoint rejects", () => {
  test("restore() before take()", async () => {
    const folder = temporaryTree({ a: "1" });
    await expect(createCheckpoint(folder).restore()).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EINVAL",
      path: folder,
      message: expect.stringContaining("has no checkpoint to restore. Take one first."),
    });
    expect(readdirSync(folder)).toEqual(["a"]);
  });

  test("a missing folder and a file", async () => {
    const folder = temporaryTree({ file: "1" });
    await expect(createCheckpoint(join(folder, "gone")).take()).rejects.toThrow(
      "does not exist. Create the folder before taking a checkpoint.",
    );
    await expect(createCheckpoint(join(folder, "file")).take()).rejects.toThrow(
      "is not a folder. Use the path of a folder.",
    );
  });

  test("a folder that contains the temporary folder", async () => {
    const temporary = useTemporaryFolder();
    await expect(createCheckpoint(temporary).take()).rejects.toThrow(
      "contains the system's temporary folder, where its copy would be stored. Set TMPDIR to a folder outside it.",
    );
    expect(readdirSync(temporary)).toEqual([]);
    vi.stubEnv("TMPDIR", join(temporary, "gone"));
    await expect(createCheckpoint(temporary).take()).rejects.toThrow(
      "contains the system's temporary",
    );
    await expect(createCheckpoint(temporaryTree()).take()).rejects.toThrow(
      "Set TMPDIR to a writable folder with enough space",
    );
  });

  test("an unreadable file, and keeps the previous checkpoint", async () => {
    useTemporaryFolder();
    const folder = temporaryTree();
    chmodSync(folder, 0o1777); // as /tmp
    await runAsPlainUser(async () => {
      writeTree(folder, { a: "1", secret: "2" });
      await using checkpoint = new FolderCheckpoint(folder);
      await checkpoint.take();
      writeFileSync(join(folder, "a"), "other");
      chmodSync(join(folder, "secret"), 0o000);
      await expect(checkpoint.take()).rejects.toMatchObject({
        name: "FilesystemError",
        code: "EACCES",
        path: join(folder, "secret"),
        message: expect.stringContaining("Let this user read it, or move it out of the folder"),
      });
      const { restored, failed } = await checkpoint.restore();
      expect([...restored].sort()).toEqual(["a", "secret"]);
      expect(failed).toEqual([]);
    });
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("1");
  });

  test("every call after dispose", async () => {
    const checkpoint = createCheckpoint(temporaryTree({ a: "1" }));
    await checkpoint.take();
    await checkpoint[Symbol.asyncDispose]();
    for (const use of [checkpoint.take(), checkpoint.restore()]) {
      await expect(use).rejects.toThrow("was disposed. Create a new one.");
    }
  });

  test("a call whose thread is killed", async () => {
    const checkpoint = createCheckpoint(temporaryTree({ a: "1" }));
    const kill = (worker: Worker) => void worker.terminate();
    process.on("worker", kill);
    onTestFinished(() => void process.off("worker", kill));
    await expect(checkpoint.take()).rejects.toThrow(
      "ended early. Try again; the checkpoint is still valid",
    );
    process.off("worker", kill);
    await checkpoint.take();
  });
});

describe("FolderCheckpoint on abort", () => {
  test("throws the reason of either signal before changing anything", async () => {
    const temporary = useTemporaryFolder();
    const folder = temporaryTree({ a: "1" });
    const signal = AbortSignal.abort("no");
    await expect(createCheckpoint(folder).take(signal)).rejects.toBe("no");
    await expect(createCheckpoint(folder, { signal }).take()).rejects.toBe("no");
    await expect(createCheckpoint(folder).restore(signal)).rejects.toBe("no");
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("keeps the previous checkpoint and removes the new copies if take() is aborted", async () => {
    const temporary = useTemporaryFolder();
    const folder = temporaryTree({ a: "1" });
    const before = describeTree(folder);
    const checkpoint = createCheckpoint(folder);
    await checkpoint.take();
    writeLargeFiles(folder);
    const controller = new AbortController();
    const taking = checkpoint.take(controller.signal);
    taking.catch(() => {});
    await vi.waitFor(() => expect(listCopies(temporary).length).toBeGreaterThan(2), WAIT);
    controller.abort("enough");
    await expect(taking).rejects.toBe("enough");
    expect((await checkpoint.restore()).failed).toEqual([]);
    expect(describeTree(folder)).toEqual(before);
    expect(listCopies(temporary)).toHaveLength(1);
  });

  test("leaves no partial file and can restore again if restore() is aborted", async () => {
    const folder = temporaryTree({ a: "1" });
    writeLargeFiles(folder);
    const checkpoint = createCheckpoint(folder);
    await checkpoint.take();
    const names = readdirSync(folder);
    for (const name of names) rmSync(join(folder, name));
    const controller = new AbortController();
    const restoring = checkpoint.restore(controller.signal);
    restoring.catch(() => {});
    await vi.waitFor(() => expect(readdirSync(folder).length).toBeGreaterThan(2), WAIT);
    controller.abort("enough");
    await expect(restoring).rejects.toBe("enough");
    expect((await checkpoint.restore()).removed).toEqual([]);
    expect(readdirSync(folder)).toEqual(names);
    const sizes = names.map((name) => lstatSync(join(folder, name)).size);
    expect(sizes.filter((size) => size !== LARGE_BYTES)).toEqual([1]);
  });

  test("stops take() when it is disposed", async () => {
    const temporary = useTemporaryFolder();
    const folder = temporaryTree();
    writeLargeFiles(folder);
    const checkpoint = createCheckpoint(folder);
    const taking = checkpoint.take();
    taking.catch(() => {});
    await vi.waitFor(() => expect(listCopies(temporary).length).toBeGreaterThan(2), WAIT);
    await checkpoint[Symbol.asyncDispose]();
    await expect(taking).rejects.toThrow("was disposed. Create a new one.");
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test("sweepAbandonedFolders() removes the copies of a killed process", async () => {
  const temporary = useTemporaryFolder();
  const folder = temporaryTree();
  writeLargeFiles(folder);
  const before = readdirSync(folder);
  const toUrl = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
  const code = `
    const { FolderCheckpoint } = await import(${toUrl("./folder-checkpoint.ts")});
    const { readdirSync } = await import("node:fs");
    void new FolderCheckpoint(${JSON.stringify(folder)}).take();
    const temporary = ${JSON.stringify(temporary)};
    setInterval(() => {
      const homes = readdirSync(temporary).map((name) => temporary + "/" + name + "/files");
      if (homes.some((home) => readdirSync(home).length > 2)) process.kill(process.pid, "SIGKILL");
    }, 1);
  `;
  const ending = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
  await expect(ending).rejects.toMatchObject({ signal: "SIGKILL" });
  const [left = ""] = readdirSync(temporary);
  expect(listCopies(temporary).length).toBeGreaterThan(2);
  expect(await sweepAbandonedFolders()).toEqual([join(temporary, left)]);
  expect(existsSync(join(temporary, left))).toBe(false);
  expect(readdirSync(folder)).toEqual(before);
});
