import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeTree } from "../../../tests/support/describe-tree.ts";
import { InlineCheckpoint } from "../../../tests/support/inline-checkpoint.ts";
import { runAsPlainUser, temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { FolderCheckpoint } from "./folder-checkpoint.ts";
import type { FolderRestoreResult } from "./restore-report.ts";

/** A change to a folder by another process. */
type Change = (folder: string) => void;

/** Uses few names, so that paths often collide as files and folders. */
const path = fc
  .array(fc.constantFrom("a", "b", "é"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const text = fc.constantFrom("", "x", "y", "xx", "yy", "x".repeat(70_000));

/** Sets the time to a whole second, which can be set again exactly. */
function writeWithOldTime(file: string, text: string): void {
  writeFileSync(file, text);
  utimesSync(file, 1_000_000_000, 1_000_000_000);
}

/** Keeps the size and the modification time, so that only the inode's change time differs. */
function rewriteWithSameTime(file: string): void {
  const { atime, mtime } = lstatSync(file);
  writeFileSync(file, Buffer.from(readFileSync(file)).fill("z"));
  utimesSync(file, atime, mtime);
}

function swapKind(at: string): void {
  const isFolder = lstatSync(at).isDirectory();
  rmSync(at, { recursive: true });
  if (isFolder) writeFileSync(at, "was a folder");
  else mkdirSync(join(at, "a"), { recursive: true });
}

const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .tuple(path, text)
    .map(nameChange("write", (folder, [at, text]) => writeWithOldTime(join(folder, at), text))),
  fc
    .tuple(path, text)
    .map(nameChange("append", (folder, [at, text]) => appendFileSync(join(folder, at), text))),
  path.map(nameChange("rewrite silently", (folder, at) => rewriteWithSameTime(join(folder, at)))),
  fc
    .tuple(path, fc.constantFrom(0o644, 0o755, 0o600, 0o500, 0o444, 0o000))
    .map(nameChange("chmod", (folder, [at, mode]) => chmodSync(join(folder, at), mode))),
  path.map(nameChange("delete", (folder, at) => rmSync(join(folder, at)))),
  path.map(nameChange("mkdir", (folder, at) => mkdirSync(join(folder, at), { recursive: true }))),
  path.map(nameChange("rmdir", (folder, at) => rmSync(join(folder, at), { recursive: true }))),
  fc
    .tuple(path, fc.constantFrom("a", "..", "/nowhere", "é/b"))
    .map(nameChange("symlink", (folder, [at, target]) => symlinkSync(target, join(folder, at)))),
  fc
    .tuple(path, path)
    .map(
      nameChange("rename", (folder, [at, to]) => renameSync(join(folder, at), join(folder, to))),
    ),
  path.map(nameChange("swap", (folder, at) => swapKind(join(folder, at)))),
  fc
    .constantFrom(0o755, 0o700, 0o500, 0o000)
    .map(nameChange("chmod the folder", (folder, mode) => chmodSync(folder, mode))),
);

/** Creates changes with a name for the failure message. A change that throws is ignored. */
function nameChange<Arguments>(name: string, work: (folder: string, given: Arguments) => void) {
  return (given: Arguments): Change =>
    Object.assign(
      (folder: string) => {
        try {
          work(folder, given);
        } catch {}
      },
      { [fc.toStringMethod]: () => `${name} ${JSON.stringify(given).slice(0, 40)}` },
    );
}

const changes = fc.array(change, { maxLength: 12 });

/** The changes after a checkpoint, and before it if the checkpoint is taken again. */
interface Round {
  readonly changesBefore: readonly Change[] | null;
  readonly changes: readonly Change[];
}
const round: fc.Arbitrary<Round> = fc.record({ changesBefore: fc.option(changes), changes });

/** The initial files. */
const TREE = { "a/a/b": "x", "a/b": "yy", "é/a": "", "b/b": null, "b/é/a": "x".repeat(70_000) };

interface Checkpoint {
  take(): void | Promise<void>;
  restore(): FolderRestoreResult | Promise<FolderRestoreResult>;
}

/** Takes a checkpoint. Returns `false` if a file is not accessible; the previous checkpoint then stays. */
async function tryTake(checkpoint: Checkpoint): Promise<boolean> {
  try {
    await runAsPlainUser(() => checkpoint.take());
    return true;
  } catch (error) {
    expect(error).toMatchObject({ name: "FilesystemError", code: "EACCES" });
    return false;
  }
}

function makeAllAccessible(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeAllAccessible(join(folder, entry.name));
  }
}

/** Waits until the disk's clock advances, so that the next change gets a later time. */
function waitForClockTick(beside: string): void {
  const probe = `${beside}.probe`;
  writeFileSync(probe, "");
  const { ctimeNs } = lstatSync(probe, { bigint: true });
  while (lstatSync(probe, { bigint: true }).ctimeNs === ctimeNs) writeFileSync(probe, "");
}

async function checkRestores(folder: string, checkpoint: Checkpoint, rounds: readonly Round[]) {
  await runAsPlainUser(() => {
    writeTree(folder, TREE);
    for (const [at, text] of Object.entries(TREE)) {
      if (text !== null) writeWithOldTime(join(folder, at), text);
    }
  });
  let before = describeTree(folder);
  expect(await tryTake(checkpoint)).toBe(true);
  for (const { changes, changesBefore } of rounds) {
    if (changesBefore) {
      await runAsPlainUser(() => changesBefore.forEach((change) => void change(folder)));
      if (await tryTake(checkpoint)) before = describeTree(folder);
    }
    waitForClockTick(folder);
    await runAsPlainUser(() => changes.forEach((change) => void change(folder)));
    const { failed } = await runAsPlainUser(() => checkpoint.restore());
    expect(failed).toEqual([]);
    expect(describeTree(folder)).toEqual(before);
    expect(await runAsPlainUser(() => checkpoint.restore())).toEqual(NO_CHANGES);
    waitForClockTick(folder);
  }
}

const seed = Number(process.env["WINK_SEED"] ?? 20_261_118);
const numRuns = Number(process.env["WINK_RUNS"] ?? 20);
const NO_CHANGES: FolderRestoreResult = { restored: [], removed: [], failed: [] };
const HOUR = 3_600_000;

/** Returns a function that creates folders as an unprivileged user. */
function createPlainUserFolders(): () => Promise<string> {
  const root = temporaryTree();
  chmodSync(root, 0o777);
  return () => runAsPlainUser(() => mkdtempSync(join(root, "run-")));
}

describe("FolderCheckpoint restores a folder after any changes", () => {
  test.each([
    { byDescriptor: true, knownBy: "bytes" },
    { byDescriptor: true, knownBy: "times" },
    { byDescriptor: false, knownBy: "bytes" },
    { byDescriptor: false, knownBy: "times" },
  ])(
    "with files identified by $knownBy and folders pinned by descriptor: $byDescriptor",
    async ({ byDescriptor, knownBy }) => {
      const createNextFolder = createPlainUserFolders();
      const now = () => Date.now() + (knownBy === "times" ? HOUR : 0);
      const property = fc.asyncProperty(fc.array(round, { maxLength: 6 }), async (rounds) => {
        const [folder, copies] = [await createNextFolder(), await createNextFolder()];
        await checkRestores(
          folder,
          new InlineCheckpoint(folder, { copies, byDescriptor, now }),
          rounds,
        );
        makeAllAccessible(folder);
      });
      await fc.assert(property, { seed, numRuns });
    },
    60_000,
  );

  test("in a thread", async () => {
    const nextFolder = createPlainUserFolders();
    const property = fc.asyncProperty(fc.array(round, { maxLength: 3 }), async (rounds) => {
      const folder = await nextFolder();
      await using checkpoint = new FolderCheckpoint(folder);
      await checkRestores(folder, checkpoint, rounds);
      makeAllAccessible(folder);
    });
    await fc.assert(property, { seed, numRuns: Math.ceil(numRuns / 10) });
  });
});
