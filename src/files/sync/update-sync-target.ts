import { rmdir } from "node:fs/promises";
import { forEachConcurrently } from "../../base/for-each-concurrently.ts";
import { ObstructedError, type SyncFailure, toSyncReason } from "./sync-failure.ts";
import { SyncTarget } from "./sync-target.ts";
import { MAX_CONCURRENT_FILES, type SyncTask } from "./sync-task.ts";
import { treeFileFinder } from "./tree-file.ts";

/**
 * Writes and removes single files in the destination folder. A failure does not stop the others. Files are
 * removed last, and only if every write succeeded: a removed file may be an old version that was not written under its new name.
 */
export async function updateSyncTarget(task: SyncTask): Promise<readonly SyncFailure[]> {
  const { from, to, writes, removals, signal } = task;
  const folder = new SyncTarget(to);
  const findFile = treeFileFinder(from);
  const reasons = new Map<string, string>();
  const waiting = new Set<string>();
  const runForEach = async (paths: Iterable<string>, work: (path: string) => Promise<void>) => {
    const runOne = async (path: string) => {
      try {
        await work(path);
        reasons.delete(path);
      } catch (error) {
        if (error instanceof ObstructedError) waiting.add(path);
        reasons.set(path, toSyncReason(error, to));
      }
    };
    await forEachConcurrently(paths, runOne, { concurrency: MAX_CONCURRENT_FILES, signal });
  };
  try {
    await runForEach(writes, async (path) => folder.write(path, await findFile(path)));
    if (reasons.size > waiting.size) {
      for (const path of removals) reasons.set(path, NOT_REMOVED);
    } else {
      await runForEach(removals, (path) => folder.remove(path));
      await runForEach([...waiting], async (path) =>
        folder.writeOverEmptyFolders(path, await findFile(path)),
      );
    }
  } finally {
    if (reasons.size > 0 || signal?.aborted) await removeEmpty(folder.createdFolders);
  }
  return [...writes, ...removals].flatMap((path) => {
    const reason = reasons.get(path);
    return reason === undefined ? [] : [{ path, reason }];
  });
}

const NOT_REMOVED =
  "It was not removed because other files could not be written. Fix those, then remove it.";

/** Removes empty folders, deepest first. */
async function removeEmpty(folders: ReadonlySet<string>): Promise<void> {
  const deepestFirst = [...folders].sort((one, other) => other.length - one.length);
  for (const folder of deepestFirst) await rmdir(folder).catch(() => {});
}
