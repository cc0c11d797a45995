import { constants } from "node:fs";
import { access, mkdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { someAtOnce } from "../../base/some-at-once.ts";
import { hostCode } from "../../host/host-error.ts";
import { removeFolder } from "../../host/remove-tree.ts";
import { parentOf } from "../path.ts";
import { type Staging, stagingBeside, stagingInside, stagingLike } from "./staging.ts";
import { type SyncFailure, syncReason } from "./sync-reason.ts";
import { FILES_AT_ONCE, type SyncTask } from "./sync-task.ts";
import { copyTreeFile, treeFiles } from "./tree-file.ts";

/**
 * Makes the user's folder, which is not there or empty: all files of the task are written aside and
 * put there whole. If that cannot be done, all of them have failed and nothing has changed.
 */
export async function buildFolder(
  task: SyncTask,
  kind: "missing" | "empty",
): Promise<readonly SyncFailure[]> {
  const { to, writes, signal } = task;
  try {
    if (kind === "missing") return await besideNewParents(task);
    if (writes.length > 0) await access(to, constants.W_OK | constants.X_OK);
    return writes.length > 0 ? await inPlaceOf(task) : [];
  } catch (error) {
    signal?.throwIfAborted();
    const reason = syncReason(error, to);
    return writes.map((path) => ({ path, reason }));
  }
}

async function besideNewParents(task: SyncTask): Promise<readonly SyncFailure[]> {
  const parent = dirname(task.to);
  const first = await mkdir(parent, { recursive: true });
  let isDone = false;
  try {
    const failed = await build(task, await stagingBeside(task.to));
    isDone = failed.length === 0;
    return failed;
  } finally {
    if (!isDone && first !== undefined) await removeEmptyUpTo(first, parent);
  }
}

/** A folder that is a disk of its own, or another user's, cannot be replaced, but it can be filled. */
async function inPlaceOf(task: SyncTask): Promise<readonly SyncFailure[]> {
  try {
    return await build(task, await stagingLike(task.to));
  } catch (error) {
    if (!NOT_TO_BE_REPLACED.has(hostCode(error))) throw error;
    return await build(task, await stagingInside(task.to));
  }
}

const NOT_TO_BE_REPLACED = new Set<string | undefined>([
  "EACCES",
  "EPERM",
  "EROFS",
  "EBUSY",
  "EXDEV",
]);

async function build(task: SyncTask, { folder, put }: Staging): Promise<readonly SyncFailure[]> {
  let isDone = false;
  try {
    const failure = await fill(task, folder);
    if (failure) return allFailed(task, failure);
    await put();
    isDone = true;
    return [];
  } finally {
    if (!isDone) await removeFolder(folder).catch(() => {}); // why it failed matters more
  }
}

/** Gives the first file that could not be written. */
async function fill(task: SyncTask, folder: string): Promise<SyncFailure | null> {
  const { from, to, writes, signal } = task;
  const failures: SyncFailure[] = [];
  const fileAt = treeFiles(from);
  const made = new Map<string, Promise<unknown>>();
  const makeFolder = (path: string) => {
    const making = made.get(path) ?? mkdir(join(folder, path), { recursive: true });
    made.set(path, making);
    return making;
  };
  const copy = async (path: string) => {
    try {
      await makeFolder(parentOf(path));
      await copyTreeFile(await fileAt(path), join(folder, path));
    } catch (error) {
      failures.push({ path, reason: syncReason(error, to) });
      throw error;
    }
  };
  try {
    await someAtOnce(writes, copy, { atOnce: FILES_AT_ONCE, signal });
  } catch {
    signal?.throwIfAborted();
  }
  return failures[0] ?? null;
}

function allFailed({ to, writes }: SyncTask, first: SyncFailure): readonly SyncFailure[] {
  const problem = `${JSON.stringify(first.path)} could not be written`;
  const reason = `${problem}, and ${JSON.stringify(to)} gets all files or none: see to that one`;
  const others = writes.filter((path) => path !== first.path);
  return [first, ...others.map((path) => ({ path, reason }))];
}

/** Folders that we made on the way, `first` being the uppermost. */
async function removeEmptyUpTo(first: string, last: string): Promise<void> {
  for (let folder = last; folder.length >= first.length; folder = dirname(folder)) {
    await rmdir(folder).catch(() => {}); // somebody else has put something there
  }
}
