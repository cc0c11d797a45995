import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fchmodSync,
  lstatSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { getErrorMessage } from "../../base/errors.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { ContainedPaths } from "./contained-paths.ts";
import type { SyncFailure } from "./sync-failure.ts";

/** Changes to apply to a folder. Paths are relative to `root`. */
export interface ApplyChangesTask {
  readonly root: string;
  /** Files to delete. */
  readonly deleted: readonly string[];
  /** Whether to remove a folder when its last file is deleted. */
  readonly pruneFolders: boolean;
  /** Folders to remove if they are empty, deepest first. */
  readonly removedFolders: readonly string[];
  /** Files to write, with the path of the file to move there. */
  readonly files: readonly (readonly [path: string, from: string])[];
  /** Folders to create if they are missing. */
  readonly folders: readonly string[];
  /** The permission bits of files, set after all are written. @default files keep theirs */
  readonly modes?: readonly (readonly [path: string, mode: number])[] | undefined;
}

/**
 * Applies changes to a folder. Synchronous: run it in a thread, or only for few changes. Deletes first, so that
 * a folder can replace a file. Returns the failures in order.
 */
export function applyChangesSync(task: ApplyChangesTask): readonly SyncFailure[] {
  const { root, deleted, pruneFolders, removedFolders, files, folders, modes = [] } = task;
  const failed: SyncFailure[] = [];
  const collectFailure = (path: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      failed.push({ path, reason: getErrorMessage(error) });
    }
  };
  const before = new ContainedPaths(root);
  for (const path of deleted) collectFailure(path, () => deleteFile(path, before, pruneFolders));
  for (const path of removedFolders) tryRemoveFolder(join(root, path));
  const after = new ContainedPaths(root); // folders may have been removed
  for (const [path, from] of files) collectFailure(path, () => placeFile(path, from, after));
  for (const path of folders) collectFailure(path, () => after.createFolder(path));
  const unwritten = new Set(failed.map(({ path }) => path));
  for (const [path, mode] of modes)
    if (!unwritten.has(path)) collectFailure(path, () => setMode(after.resolve(path), mode));
  return failed;
}

/** Runs `takeOver` in a thread. */
export const applyChangesJob = threadJob(import.meta.url, applyChangesSync);

function deleteFile(path: string, places: ContainedPaths, prunes: boolean): void {
  const at = places.resolve(path);
  if (tryLstat(at)?.isDirectory()) return;
  rmSync(at, { force: true });
  if (!prunes) return;
  for (let up = dirname(path); up !== "." && tryRemoveFolder(join(places.root, up)); )
    up = dirname(up);
}

/** Removes a folder if it is empty. Returns whether it was removed. */
function tryRemoveFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** Moves a file to its path. It gets the mode of the file it replaces. */
function placeFile(path: string, from: string, places: ContainedPaths): void {
  const at = places.resolve(path);
  places.createFolder(dirname(path));
  const before = tryLstat(at);
  if (before?.isFile()) chmodSync(from, before.mode & 0o777);
  if (before?.isDirectory()) rmdirSync(at);
  moveFile(from, at);
}

/** Sets the permission bits of a file. Its owner can always read it, so that it can be copied. */
function setMode(at: string, mode: number): void {
  const file = openNoFollow(at);
  try {
    fchmodSync(file, (mode & 0o777) | 0o400);
  } finally {
    closeSync(file);
  }
}

/** Moves a file, also to another disk. */
function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (getErrorCode(error) !== "EXDEV") throw error;
    const temporary = join(dirname(to), `.wink-${randomUUID()}.tmp`);
    try {
      copyFileSync(from, temporary);
      renameSync(temporary, to);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
}

function tryLstat(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}
