import { constants } from "node:fs";
import { access, mkdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { forEachConcurrently } from "../../base/for-each-concurrently.ts";
import { createFolder } from "../../host/create-folder.ts";
import { removeFolder } from "../../host/remove-tree.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { getParent } from "../path.ts";
import {
  createStagingBeside,
  createStagingInside,
  createStagingLike,
  type Staging,
} from "./staging.ts";
import { type SyncFailure, toSyncReason } from "./sync-failure.ts";
import { MAX_CONCURRENT_FILES, type SyncTask } from "./sync-task.ts";
import { copyTreeFile, treeFileFinder } from "./tree-file.ts";

/**
 * Creates a destination folder that is missing or empty. Writes all files to a staging folder first, then moves
 * them at once. If a file fails, all files are reported as failed and nothing changes.
 */
export async function createSyncTarget(
  task: SyncTask,
  kind: "missing" | "empty",
): Promise<readonly SyncFailure[]> {
  const { to, writes, signal } = task;
  try {
    if (kind === "missing") return await createWithParents(task);
    if (writes.length > 0) await access(to, constants.W_OK | constants.X_OK);
    return writes.length > 0 ? await fillEmptyFolder(task) : [];
  } catch (error) {
    signal?.throwIfAborted();
    const reason = toSyncReason(error, to);
    return writes.map((path) => ({ path, reason }));
  }
}

async function createWithParents(task: SyncTask): Promise<readonly SyncFailure[]> {
  const parent = dirname(task.to);
  const first = await createFolder(parent);
  let isDone = false;
  try {
    const failed = await stageAndCommit(task, await createStagingBeside(task.to));
    isDone = failed.length === 0;
    return failed;
  } finally {
    if (!isDone && first !== undefined) await removeEmptyParents(first, parent);
  }
}

/** Replaces an empty folder, or fills it if it cannot be replaced: a mount point, or another user's folder. */
async function fillEmptyFolder(task: SyncTask): Promise<readonly SyncFailure[]> {
  try {
    return await stageAndCommit(task, await createStagingLike(task.to));
  } catch (error) {
    if (!IRREPLACEABLE_CODES.has(getErrorCode(error))) throw error;
    return await stageAndCommit(task, await createStagingInside(task.to));
  }
}

const IRREPLACEABLE_CODES = new Set<string | undefined>([
  "EACCES",
  "EPERM",
  "EROFS",
  "EBUSY",
  "EXDEV",
]);

async function stageAndCommit(
  task: SyncTask,
  { folder, commit }: Staging,
): Promise<readonly SyncFailure[]> {
  let isDone = false;
  try {
    const failure = await writeFiles(task, folder);
    if (failure) return failAll(task, failure);
    await commit();
    isDone = true;
    return [];
  } finally {
    if (!isDone) await removeFolder(folder).catch(() => {}); // the original error matters more
  }
}

/** Writes all files and returns the first failure, or `null`. */
async function writeFiles(task: SyncTask, folder: string): Promise<SyncFailure | null> {
  const { from, to, writes, signal } = task;
  const failures: SyncFailure[] = [];
  const findFile = treeFileFinder(from);
  const created = new Map<string, Promise<unknown>>();
  const createFolder = (path: string) => {
    const making = created.get(path) ?? mkdir(join(folder, path), { recursive: true });
    created.set(path, making);
    return making;
  };
  const copy = async (path: string) => {
    try {
      await createFolder(getParent(path));
      await copyTreeFile(await findFile(path), join(folder, path));
    } catch (error) {
      failures.push({ path, reason: toSyncReason(error, to) });
      throw error;
    }
  };
  try {
    await forEachConcurrently(writes, copy, { concurrency: MAX_CONCURRENT_FILES, signal });
  } catch {
    signal?.throwIfAborted();
  }
  return failures[0] ?? null;
}

function failAll({ to, writes }: SyncTask, first: SyncFailure): readonly SyncFailure[] {
  const problem = `${JSON.stringify(first.path)} could not be written`;
  const reason = `${problem}, and ${JSON.stringify(to)} receives all files or none. Fix that file first.`;
  const others = writes.filter((path) => path !== first.path);
  return [first, ...others.map((path) => ({ path, reason }))];
}

/** Removes the folders created above the destination, from `last` up to `first`. */
async function removeEmptyParents(first: string, last: string): Promise<void> {
  for (let folder = last; folder.length >= first.length; folder = dirname(folder)) {
    await rmdir(folder).catch(() => {}); // another process has put files there
  }
}
