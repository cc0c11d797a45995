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
import { asPlainUser, growTree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { treePicture } from "../../../tests/support/tree-picture.ts";
import { sweepAbandonedFolders } from "../../host/temporary-folder.ts";
import { FolderCheckpoint, type FolderCheckpointOptions } from "./folder-checkpoint.ts";

const WAIT = { interval: 1, timeout: 30_000 };

/** Temporary folders are made in here, for this test. */
function temporaryFolders(): string {
  const folder = temporaryTree();
  chmodSync(folder, 0o777);
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

function checkpointOf(folder: string, options?: FolderCheckpointOptions): FolderCheckpoint {
  const checkpoint = new FolderCheckpoint(folder, options);
  onTestFinished(() => checkpoint[Symbol.asyncDispose]());
  return checkpoint;
}

/** The names of all copies in a temporary folder. */
const copiesIn = (temporary: string): readonly string[] =>
  readdirSync(temporary).flatMap((home) => readdirSync(join(temporary, home, "files")));

/** More than can be copied before somebody looks. */
function growLarge(folder: string): void {
  const names = Array.from({ length: 40 }, (_, index) => `large-${index}`);
  growTree(folder, Object.fromEntries(names.map((name) => [name, ""])));
  for (const name of names) truncateSync(join(folder, name), LARGE_BYTES);
}

const LARGE_BYTES = 5_000_000;

describe("a checkpoint", () => {
  test("reads and copies nothing until it is taken, and is gone when it is disposed of", async () => {
    const temporary = temporaryFolders();
    const folder = temporaryTree({ "a/b": "1", empty: null });
    const before = treePicture(folder);
    const checkpoint = new FolderCheckpoint(folder);
    expect(checkpoint.folder).toBe(folder);
    expect(readdirSync(temporary)).toEqual([]);
    await checkpoint.take();
    expect(copiesIn(temporary)).toHaveLength(1);
    rmSync(join(folder, "a"), { recursive: true });
    mkdirSync(join(folder, "empty/new"));
    const result = await checkpoint.restore();
    expect(result).toEqual({ restored: ["a/b", "a"], removed: ["empty/new"], failed: [] });
    expect(result).toSatisfy(Object.isFrozen);
    expect(treePicture(folder)).toEqual(before);
    await checkpoint[Symbol.asyncDispose]();
    await checkpoint[Symbol.asyncDispose]();
    expect(readdirSync(temporary)).toEqual([]);
    expect(treePicture(folder)).toEqual(before);
  });

  test("is of the folder that a relative path, or a link, leads to", async () => {
    const above = temporaryTree({ "folder/a": "1" });
    symlinkSync("folder", join(above, "link"));
    const checkpoint = checkpointOf(relative(process.cwd(), join(above, "link")));
    await checkpoint.take();
    writeFileSync(join(above, "folder/a"), "2");
    expect((await checkpoint.restore()).restored).toEqual(["a"]);
    expect(readFileSync(join(above, "folder/a"), "utf8")).toBe("1");
    expect(lstatSync(join(above, "link")).isSymbolicLink()).toBe(true);
  });

  test("does one thing after the other, in the order in which they are asked for", async () => {
    const folder = temporaryTree({ a: "1" });
    const checkpoint = checkpointOf(folder);
    const [, first, , second] = await Promise.all([
      checkpoint.take(),
      checkpoint.restore(),
      checkpoint.take(),
      checkpoint.restore(),
    ]);
    expect([first.failed, second.failed]).toEqual([[], []]);
  });

  test("lets the event loop go on while many files are copied", async () => {
    const paths = Array.from({ length: 1_000 }, (_, index) => `${index % 30}/${index}`);
    const folder = temporaryTree(Object.fromEntries(paths.map((path) => [path, "x"])));
    const checkpoint = checkpointOf(folder);
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

describe("a checkpoint cannot be", () => {
  test("restored before it is taken", async () => {
    const folder = temporaryTree({ a: "1" });
    await expect(checkpointOf(folder).restore()).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EINVAL",
      path: folder,
      message: expect.stringContaining("has no checkpoint to go back to: take one first"),
    });
    expect(readdirSync(folder)).toEqual(["a"]);
  });

  test("taken of what is not there, or no folder", async () => {
    const folder = temporaryTree({ file: "1" });
    await expect(checkpointOf(join(folder, "gone")).take()).rejects.toThrow(
      "does not exist: a checkpoint is taken of a folder that is there",
    );
    await expect(checkpointOf(join(folder, "file")).take()).rejects.toThrow(
      "is not a folder: a checkpoint is taken of a folder, so give one",
    );
  });

  test("taken of a folder that would hold its own copy", async () => {
    const temporary = temporaryFolders();
    await expect(checkpointOf(temporary).take()).rejects.toThrow(
      "holds the machine's temporary folder, where its copy would go: set TMPDIR to a folder outside",
    );
    expect(readdirSync(temporary)).toEqual([]);
    vi.stubEnv("TMPDIR", join(temporary, "gone"));
    await expect(checkpointOf(temporary).take()).rejects.toThrow("holds the machine's temporary");
    await expect(checkpointOf(temporaryTree()).take()).rejects.toThrow(
      "a temporary folder could not be made",
    );
  });

  test("taken where a file may not be read, and the one before is still good", async () => {
    temporaryFolders();
    const folder = temporaryTree();
    chmodSync(folder, 0o777);
    await asPlainUser(async () => {
      growTree(folder, { a: "1", secret: "2" });
      await using checkpoint = new FolderCheckpoint(folder);
      await checkpoint.take();
      writeFileSync(join(folder, "a"), "other");
      chmodSync(join(folder, "secret"), 0o000);
      await expect(checkpoint.take()).rejects.toMatchObject({
        name: "FilesystemError",
        code: "EACCES",
        path: join(folder, "secret"),
        message: expect.stringContaining("let this user read it, or move it out of the folder"),
      });
      const { restored, failed } = await checkpoint.restore();
      expect([...restored].sort()).toEqual(["a", "secret"]);
      expect(failed).toEqual([]);
    });
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("1");
  });

  test("used once it is disposed of", async () => {
    const checkpoint = checkpointOf(temporaryTree({ a: "1" }));
    await checkpoint.take();
    await checkpoint[Symbol.asyncDispose]();
    for (const use of [checkpoint.take(), checkpoint.restore()]) {
      await expect(use).rejects.toThrow("is disposed of: make a new one");
    }
  });

  test("worked on where no thread lives long enough", async () => {
    const checkpoint = checkpointOf(temporaryTree({ a: "1" }));
    const kill = (worker: Worker) => void worker.terminate();
    process.on("worker", kill);
    onTestFinished(() => void process.off("worker", kill));
    await expect(checkpoint.take()).rejects.toThrow(
      "ended before it was done: the checkpoint is still good, try again",
    );
    process.off("worker", kill);
    await checkpoint.take();
  });
});

describe("an abort", () => {
  test("before anything is done is thrown as it is, whoever gave the signal", async () => {
    const temporary = temporaryFolders();
    const folder = temporaryTree({ a: "1" });
    const signal = AbortSignal.abort("no");
    await expect(checkpointOf(folder).take(signal)).rejects.toBe("no");
    await expect(checkpointOf(folder, { signal }).take()).rejects.toBe("no");
    await expect(checkpointOf(folder).restore(signal)).rejects.toBe("no");
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("while a checkpoint is taken leaves the one before, and no more copies than it has", async () => {
    const temporary = temporaryFolders();
    const folder = temporaryTree({ a: "1" });
    const before = treePicture(folder);
    const checkpoint = checkpointOf(folder);
    await checkpoint.take();
    growLarge(folder);
    const controller = new AbortController();
    const taking = checkpoint.take(controller.signal);
    taking.catch(() => {});
    await vi.waitFor(() => expect(copiesIn(temporary).length).toBeGreaterThan(2), WAIT);
    controller.abort("enough");
    await expect(taking).rejects.toBe("enough");
    expect((await checkpoint.restore()).failed).toEqual([]);
    expect(treePicture(folder)).toEqual(before);
    expect(copiesIn(temporary)).toHaveLength(1);
  });

  test("while a folder is restored leaves no half of a file, and it can be restored again", async () => {
    const folder = temporaryTree({ a: "1" });
    growLarge(folder);
    const checkpoint = checkpointOf(folder);
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

  test("by disposing of it ends what is under way", async () => {
    const temporary = temporaryFolders();
    const folder = temporaryTree();
    growLarge(folder);
    const checkpoint = checkpointOf(folder);
    const taking = checkpoint.take();
    taking.catch(() => {});
    await vi.waitFor(() => expect(copiesIn(temporary).length).toBeGreaterThan(2), WAIT);
    await checkpoint[Symbol.asyncDispose]();
    await expect(taking).rejects.toThrow("is disposed of: make a new one");
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test("what a killed process leaves of a checkpoint is removed by the sweep", async () => {
  const temporary = temporaryFolders();
  const folder = temporaryTree();
  growLarge(folder);
  const before = readdirSync(folder);
  const url = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
  const code = `
    const { FolderCheckpoint } = await import(${url("./folder-checkpoint.ts")});
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
  expect(copiesIn(temporary).length).toBeGreaterThan(2);
  expect(await sweepAbandonedFolders()).toEqual([join(temporary, left)]);
  expect(existsSync(join(temporary, left))).toBe(false);
  expect(readdirSync(folder)).toEqual(before);
});
