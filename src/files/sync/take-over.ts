import { randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, lstatSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { hostCode } from "../../host/host-error.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { SafePlaces } from "./safe-places.ts";
import type { SyncFailure } from "./sync-reason.ts";

/** What is done to a tree of files. Paths are within its root. */
export interface TakeOverTask {
  readonly root: string;
  /** Files that go. */
  readonly deleted: readonly string[];
  /** Whether a folder goes with the last file in it. */
  readonly prunes: boolean;
  /** Folders that go, deepest first, unless they hold something. */
  readonly gone: readonly string[];
  /** Files that come, and where their bytes wait. */
  readonly files: readonly (readonly [path: string, from: string])[];
  /** Folders that are to be there. */
  readonly folders: readonly string[];
}

/**
 * Takes changes over into a tree, synchronously: for a thread, or for few of them. Deletions come
 * first, so that a folder may stand where a file was. Gives what could not be done, in order.
 */
export function takeOver(task: TakeOverTask): readonly SyncFailure[] {
  const { root, deleted, prunes, gone, files, folders } = task;
  const failed: SyncFailure[] = [];
  const attempt = (path: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      failed.push({ path, reason: messageOf(error) });
    }
  };
  const before = new SafePlaces(root);
  for (const path of deleted) attempt(path, () => deleteFile(path, before, prunes));
  for (const path of gone) isRemoved(join(root, path));
  const after = new SafePlaces(root); // folders may have gone
  for (const [path, from] of files) attempt(path, () => putFile(path, from, after));
  for (const path of folders) attempt(path, () => after.makeFolder(path));
  return failed;
}

/** Runs `takeOver` in a thread. */
export const takeOverJob = threadJob(import.meta.url, takeOver);

function deleteFile(path: string, places: SafePlaces, prunes: boolean): void {
  const at = places.of(path);
  if (lookAt(at)?.isDirectory()) return;
  rmSync(at, { force: true });
  if (!prunes) return;
  for (let up = dirname(path); up !== "." && isRemoved(join(places.root, up)); ) up = dirname(up);
}

/** Whether a folder is gone now: one that holds something stays. */
function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** With the mode of what it replaces. */
function putFile(path: string, from: string, places: SafePlaces): void {
  const at = places.of(path);
  places.makeFolder(dirname(path));
  const before = lookAt(at);
  if (before?.isFile()) chmodSync(from, before.mode & 0o777);
  if (before?.isDirectory()) rmdirSync(at);
  move(from, at);
}

/** A tree may be on another disk than what is on its way to it. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (hostCode(error) !== "EXDEV") throw error;
    const temporary = join(dirname(to), `.wink-${randomUUID()}.tmp`);
    try {
      copyFileSync(from, temporary);
      renameSync(temporary, to);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
}

function lookAt(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}
