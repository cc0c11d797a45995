import { constants } from "node:fs";
import { access, mkdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { forEachConcurrently } from "../../base/for-each-concurrently.ts";
import { createFolder } from "../../host/create-folder.ts";
import { removeFolder } from "../../host/remove-tree.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { getParent } from "../path.ts";
import { decideWrite } from "./decide-write.ts";
import {
  createStagingBeside,
  createStagingInside,
  createStagingLike,
  type Staging,
} from "./staging.ts";
import { ConflictError } from "./sync-conflict.ts";
import { type SyncFailure, toSyncReason } from "./sync-failure.ts";
import { MAX_CONCURRENT_FILES, type SyncTask } from "./sync-task.ts";
import { copyTreeFile, treeFileFinder } from "./tree-file.ts";

/**
 * Creates a destination folder that is missing or empty. Writes all files to a staging folder first, then moves
 * them at once. If a file fails, all files are reported as failed and nothing changes. A file that the host
 * should have is a conflict: the user has deleted it.
 */
export async function createSyncTarget(
  given: SyncTask,
  kind: "missing" | "empty",
): Promise<readonly SyncFailure[]> {
  const { failed, task } = await settleDeleted(given);
  const { to, writes, folders, removals, guard, signal } = task;
  const isNothingLeft = given.writes.length > 0 && writes.length + folders.length === 0;
  try {
    for (const path of removals) guard.onSynced(path, null);
    if (isNothingLeft) return failed;
    if (kind === "missing") return [...failed, ...(await createWithParents(task))];
    if (writes.length + folders.length === 0) return failed;
    await access(to, constants.W_OK | constants.X_OK);
    return [...failed, ...(await fillEmptyFolder(task))];
  } catch (error) {
    signal?.throwIfAborted();
    const reason = toSyncReason(error, to);
    return [...failed, ...writes.map((path) => ({ path, reason }))];
  }
}

/** Passes the files that the host should have, and has not, to the guard. Returns the task without them. */
async function settleDeleted(task: SyncTask) {
  const { guard, to } = task;
  const findFile = treeFileFinder(task.from);
  const failed: SyncFailure[] = [];
  const writes: string[] = [];
  const missing = { entry: { kind: "missing" }, isLink: false } as const;
  for (const path of task.writes) {
    try {
      decideWrite(
        { ...missing, expected: guard.expect(path) },
        { digest: null, isModeOnly: false },
      );
      writes.push(path);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      try {
        const file = await findFile(path);
        const writeBeside = async () => null; // its folder is deleted too
        await guard.onConflict({ path, problem: error.message, file, writeBeside });
      } catch (failure) {
        failed.push({ path, reason: toSyncReason(failure, to) });
      }
    }
  }
  return { failed, task: { ...task, writes } };
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
    const modes = new Map<string, number>();
    for (const [path, mode] of task.folders)
      await mkdir(join(folder, path), { recursive: true, mode: mode | OWNER_ACCESS });
    const failure = await writeFiles(task, folder, modes);
    if (failure) return failAll(task, failure);
    await commit();
    isDone = true;
    for (const [path, mode] of modes) task.guard.onSynced(path, mode);
    return [];
  } finally {
    if (!isDone) await removeFolder(folder).catch(() => {}); // the original error matters more
  }
}

const OWNER_ACCESS = 0o700;

/** Writes all files, adds their permission bits to `modes`, and returns the first failure, or `null`. */
async function writeFiles(
  task: SyncTask,
  folder: string,
  modes: Map<string, number>,
): Promise<SyncFailure | null> {
  const { from, to, writes, signal, onWritten } = task;
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
      const file = await findFile(path);
      await copyTreeFile(file, join(folder, path));
      modes.set(path, file.mode & 0o777);
      onWritten?.(path);
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
