import { rmdir } from "node:fs/promises";
import { someAtOnce } from "../../base/some-at-once.ts";
import { InTheWay, type SyncFailure, syncReason } from "./sync-reason.ts";
import { FILES_AT_ONCE, type SyncTask } from "./sync-task.ts";
import { treeFiles } from "./tree-file.ts";
import { UserFolder } from "./user-folder.ts";

/**
 * Replaces, adds and removes single files of the user's folder; one that fails does not stop the
 * others. Files are removed last, and only if all others could be written: they may be what is left
 * of a file that was to get another name.
 */
export async function updateFolder(task: SyncTask): Promise<readonly SyncFailure[]> {
  const { from, to, writes, removals, signal } = task;
  const folder = new UserFolder(to);
  const fileAt = treeFiles(from);
  const reasons = new Map<string, string>();
  const waiting = new Set<string>();
  const each = async (paths: Iterable<string>, work: (path: string) => Promise<void>) => {
    const attempt = async (path: string) => {
      try {
        await work(path);
        reasons.delete(path);
      } catch (error) {
        if (error instanceof InTheWay) waiting.add(path);
        reasons.set(path, syncReason(error, to));
      }
    };
    await someAtOnce(paths, attempt, { atOnce: FILES_AT_ONCE, signal });
  };
  try {
    await each(writes, async (path) => folder.write(path, await fileAt(path)));
    if (reasons.size > waiting.size) {
      for (const path of removals) reasons.set(path, LEFT);
    } else {
      await each(removals, (path) => folder.remove(path));
      await each([...waiting], async (path) =>
        folder.writeOverEmptyFolders(path, await fileAt(path)),
      );
    }
  } finally {
    if (reasons.size > 0 || signal?.aborted) await removeEmpty(folder.made);
  }
  return [...writes, ...removals].flatMap((path) => {
    const reason = reasons.get(path);
    return reason === undefined ? [] : [{ path, reason }];
  });
}

const LEFT = "it was left because other files could not be written: see to those, then remove it";

/** Deepest first; those that hold something stay. */
async function removeEmpty(folders: ReadonlySet<string>): Promise<void> {
  const deepestFirst = [...folders].sort((one, other) => other.length - one.length);
  for (const folder of deepestFirst) await rmdir(folder).catch(() => {});
}
