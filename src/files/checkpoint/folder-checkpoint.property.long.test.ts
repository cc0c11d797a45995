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
import { CheckpointHere } from "../../../tests/support/checkpoint-here.ts";
import { asPlainUser, growTree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { treePicture } from "../../../tests/support/tree-picture.ts";
import { FolderCheckpoint } from "./folder-checkpoint.ts";
import type { FolderRestoreResult } from "./restore-report.ts";

/** What somebody else does to a folder. */
type Change = (folder: string) => void;

/** Few names, so that paths often meet, as files here and as folders there. */
const path = fc
  .array(fc.constantFrom("a", "b", "é"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const text = fc.constantFrom("", "x", "y", "xx", "yy", "x".repeat(70_000));

/** Its time is a whole second, which can be set again to the nanosecond. */
function writeInThePast(file: string, text: string): void {
  writeFileSync(file, text);
  utimesSync(file, 1_000_000_000, 1_000_000_000);
}

/** The same size and the same time of change: only that of its inode tells. */
function rewriteSilently(file: string): void {
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
    .map(named("write", (folder, [at, text]) => writeInThePast(join(folder, at), text))),
  fc
    .tuple(path, text)
    .map(named("append", (folder, [at, text]) => appendFileSync(join(folder, at), text))),
  path.map(named("rewrite silently", (folder, at) => rewriteSilently(join(folder, at)))),
  fc
    .tuple(path, fc.constantFrom(0o644, 0o755, 0o600, 0o500, 0o444, 0o000))
    .map(named("chmod", (folder, [at, mode]) => chmodSync(join(folder, at), mode))),
  path.map(named("delete", (folder, at) => rmSync(join(folder, at)))),
  path.map(named("mkdir", (folder, at) => mkdirSync(join(folder, at), { recursive: true }))),
  path.map(named("rmdir", (folder, at) => rmSync(join(folder, at), { recursive: true }))),
  fc
    .tuple(path, fc.constantFrom("a", "..", "/nowhere", "é/b"))
    .map(named("symlink", (folder, [at, target]) => symlinkSync(target, join(folder, at)))),
  fc
    .tuple(path, path)
    .map(named("rename", (folder, [at, to]) => renameSync(join(folder, at), join(folder, to)))),
  path.map(named("swap", (folder, at) => swapKind(join(folder, at)))),
  fc
    .constantFrom(0o755, 0o700, 0o500, 0o000)
    .map(named("chmod the folder", (folder, mode) => chmodSync(folder, mode))),
);

/** One that cannot be made, or would be outside, is no change. */
function named<Arguments>(name: string, work: (folder: string, given: Arguments) => void) {
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

/** What is done after a checkpoint; or also before, if it is to be taken anew. */
interface Round {
  readonly changesBefore: readonly Change[] | null;
  readonly changes: readonly Change[];
}
const round: fc.Arbitrary<Round> = fc.record({ changesBefore: fc.option(changes), changes });

/** What is there at first. */
const TREE = { "a/a/b": "x", "a/b": "yy", "é/a": "", "b/b": null, "b/é/a": "x".repeat(70_000) };

interface Checkpoint {
  take(): void | Promise<void>;
  restore(): FolderRestoreResult | Promise<FolderRestoreResult>;
}

/** As nobody can see what is closed to them, what cannot be taken stays as it was taken last. */
async function canTake(checkpoint: Checkpoint): Promise<boolean> {
  try {
    await asPlainUser(() => checkpoint.take());
    return true;
  } catch (error) {
    expect(error).toMatchObject({ name: "FilesystemError", code: "EACCES" });
    return false;
  }
}

function openAll(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) openAll(join(folder, entry.name));
  }
}

/** Waits until a change has another time than what was done before, as far as the disk counts. */
function nextTick(beside: string): void {
  const probe = `${beside}.probe`;
  writeFileSync(probe, "");
  const { ctimeNs } = lstatSync(probe, { bigint: true });
  while (lstatSync(probe, { bigint: true }).ctimeNs === ctimeNs) writeFileSync(probe, "");
}

async function comesBack(folder: string, checkpoint: Checkpoint, rounds: readonly Round[]) {
  await asPlainUser(() => {
    growTree(folder, TREE);
    for (const [at, text] of Object.entries(TREE)) {
      if (text !== null) writeInThePast(join(folder, at), text);
    }
  });
  let before = treePicture(folder);
  expect(await canTake(checkpoint)).toBe(true);
  for (const { changes, changesBefore } of rounds) {
    if (changesBefore) {
      await asPlainUser(() => changesBefore.forEach((change) => void change(folder)));
      if (await canTake(checkpoint)) before = treePicture(folder);
    }
    nextTick(folder);
    await asPlainUser(() => changes.forEach((change) => void change(folder)));
    const { failed } = await asPlainUser(() => checkpoint.restore());
    expect(failed).toEqual([]);
    expect(treePicture(folder)).toEqual(before);
    expect(await asPlainUser(() => checkpoint.restore())).toEqual(NOTHING_DONE);
    nextTick(folder);
  }
}

const seed = Number(process.env["WINK_SEED"] ?? 20_261_118);
const numRuns = Number(process.env["WINK_RUNS"] ?? 20);
const NOTHING_DONE: FolderRestoreResult = { restored: [], removed: [], failed: [] };
const HOUR = 3_600_000;

/** Makes folders of a user whom modes bind. */
function foldersOfPlainUser(): () => Promise<string> {
  const root = temporaryTree();
  chmodSync(root, 0o777);
  return () => asPlainUser(() => mkdtempSync(join(root, "run-")));
}

describe("whatever somebody does to a folder, it is restored as it was", () => {
  test.each([
    { byDescriptor: true, knownBy: "bytes" },
    { byDescriptor: true, knownBy: "times" },
    { byDescriptor: false, knownBy: "bytes" },
    { byDescriptor: false, knownBy: "times" },
  ])(
    "with files known by their $knownBy, and folders held by descriptor: $byDescriptor",
    async ({ byDescriptor, knownBy }) => {
      const nextFolder = foldersOfPlainUser();
      const now = () => Date.now() + (knownBy === "times" ? HOUR : 0);
      const property = fc.asyncProperty(fc.array(round, { maxLength: 6 }), async (rounds) => {
        const [folder, copies] = [await nextFolder(), await nextFolder()];
        await comesBack(folder, new CheckpointHere(folder, { copies, byDescriptor, now }), rounds);
        openAll(folder);
      });
      await fc.assert(property, { seed, numRuns });
    },
    60_000,
  );

  test("by a thread", async () => {
    const nextFolder = foldersOfPlainUser();
    const property = fc.asyncProperty(fc.array(round, { maxLength: 3 }), async (rounds) => {
      const folder = await nextFolder();
      await using checkpoint = new FolderCheckpoint(folder);
      await comesBack(folder, checkpoint, rounds);
      openAll(folder);
    });
    await fc.assert(property, { seed, numRuns: Math.ceil(numRuns / 10) });
  });
});
