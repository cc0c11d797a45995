import { createHash } from "node:crypto";
import { chmodSync, closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { createFolderSync } from "../../host/create-folder.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import type { Baseline } from "../digests/baseline.ts";
import { captureBaseline } from "../digests/capture-baseline.ts";
import type { SyncFailure } from "../sync/sync-failure.ts";
import { type FileState, isSameState, type TreeState } from "../tree-state.ts";

/** The trees to restore, and where. */
export interface RestoreTreeTask {
  /** The folder with the files' bytes. */
  readonly blobs: string;
  /** An empty folder, which receives the files. */
  readonly folder: string;
  /** A new file for the text of the mounted files. */
  readonly originals: string;
  /** The files as they were mounted. */
  readonly mounted: TreeState;
  /** The files as they were last kept. */
  readonly tree: TreeState;
}

/** The files that were restored. */
export interface RestoredTree {
  /** The files as they were mounted. */
  readonly baseline: Baseline;
  /** The files whose bytes are missing or damaged. They are not restored. */
  readonly lost: readonly SyncFailure[];
}

/**
 * Fills an empty folder with kept files. It first restores the mounted files, to keep their text for comparisons, and
 * then the later changes. Synchronous, so run it in a thread.
 */
export function restoreTree(task: RestoreTreeTask): RestoredTree {
  const { folder, mounted, tree, originals } = task;
  const lostMounts = new Set(writeFiles(task, mounted.files).map(({ path }) => path));
  for (const path of mounted.folders.keys()) createFolderSync(join(folder, path));
  const captured = captureBaseline({ folder, originals });
  const isChanged = (path: string, state: FileState) => !isSameState(tree.files.get(path), state);
  for (const [path, state] of mounted.files)
    if (isChanged(path, state)) rmSync(join(folder, path), { force: true });
  const removed = [...mounted.folders.keys()].filter((path) => !tree.folders.has(path));
  for (const path of removed) rmSync(join(folder, path), { recursive: true, force: true });
  const written = [...tree.files].filter(
    ([path, state]) => lostMounts.has(path) || !isSameState(mounted.files.get(path), state),
  );
  const lost = writeFiles(task, new Map(written));
  for (const path of tree.folders.keys()) createFolderSync(join(folder, path));
  // The contents of a folder may be read-only only after they are there.
  const deepestFirst = [...tree.folders].sort(([one], [other]) => other.length - one.length);
  for (const [path, mode] of deepestFirst) chmodSync(join(folder, path), mode);
  const { files, folders } = mounted;
  return { baseline: { ...captured, files, folders }, lost };
}

/** Runs `restoreTree` in a thread. */
export const restoreTreeJob = threadJob(import.meta.url, restoreTree);

function writeFiles(
  { blobs, folder }: RestoreTreeTask,
  files: ReadonlyMap<string, FileState>,
): readonly SyncFailure[] {
  const lost: SyncFailure[] = [];
  for (const [path, state] of files) {
    const target = join(folder, path);
    createFolderSync(dirname(target));
    const reason = copyBlob(join(blobs, state.digest), target, state);
    if (reason === null) continue;
    rmSync(target, { force: true });
    lost.push({ path, reason });
  }
  return lost;
}

/** Copies a file's bytes and checks them. Returns why they cannot be used, or `null`. */
function copyBlob(blob: string, target: string, { digest, bytes, mode }: FileState): string | null {
  const source = tryOpen(blob);
  if (source === null) return "its kept copy is missing";
  try {
    const stats = fstatSync(source);
    if (!stats.isFile() || stats.size !== bytes) return "its kept copy is damaged";
    const file = openSync(target, "wx", 0o600);
    try {
      if (copyBytes(source, file, bytes) !== digest) return "its kept copy is damaged";
    } finally {
      closeSync(file);
    }
    chmodSync(target, mode);
    return null;
  } finally {
    closeSync(source);
  }
}

function tryOpen(path: string): number | null {
  try {
    return openNoFollow(path);
  } catch {
    return null;
  }
}

/** Copies bytes and returns their digest. */
function copyBytes(source: number, target: number, size: number): string {
  const buffer = Buffer.allocUnsafe(Math.min(size, 2 ** 20));
  const hash = createHash("sha256");
  for (let done = 0, read = 1; done < size && read > 0; done += read) {
    read = readSync(source, buffer, 0, Math.min(size - done, buffer.length), done);
    const chunk = buffer.subarray(0, read);
    hash.update(chunk);
    for (let written = 0; written < read; ) written += writeSync(target, chunk, written);
  }
  return hash.digest("hex");
}
