import { rmdir } from "node:fs/promises";
import { forEachConcurrently } from "../../base/for-each-concurrently.ts";
import { ConflictError } from "./sync-conflict.ts";
import { ObstructedError, type SyncFailure, toSyncReason } from "./sync-failure.ts";
import { SyncTarget } from "./sync-target.ts";
import { MAX_CONCURRENT_FILES, type SyncTask } from "./sync-task.ts";
import { type TreeFile, treeFileFinder } from "./tree-file.ts";

/**
 * Writes and removes single files in the destination folder. A failure does not stop the others. Files are
 * removed last, and only if every write succeeded: a removed file may be an old version that was not written under
 * its new name. A conflict is passed to the guard, and is not a failure.
 */
export async function updateSyncTarget(task: SyncTask): Promise<readonly SyncFailure[]> {
  return await new TargetUpdate(task).run();
}

class TargetUpdate {
  readonly #task: SyncTask;
  readonly #target: SyncTarget;
  readonly #findFile: (path: string) => Promise<TreeFile>;
  readonly #reasons = new Map<string, string>();
  /** Paths that a file or folder blocks, which the same sync may remove. */
  readonly #waiting = new Set<string>();

  constructor(task: SyncTask) {
    this.#task = task;
    this.#target = new SyncTarget(task.to, task.guard);
    this.#findFile = treeFileFinder(task.from);
  }

  async run(): Promise<readonly SyncFailure[]> {
    const { writes, removals, folders, removedFolders, signal } = this.#task;
    try {
      await this.#createFolders();
      await this.#runForEach(writes, (path) => this.#write(path));
      if (this.#reasons.size > this.#waiting.size) {
        for (const path of removals) this.#reasons.set(path, NOT_REMOVED);
      } else {
        await this.#runForEach(removals, (path) =>
          this.#settle(path, () => this.#target.remove(path)),
        );
        for (const path of removedFolders)
          await this.#collect(path, () => this.#target.removeFolder(path));
        await this.#writeWaiting();
      }
    } finally {
      const isIncomplete = this.#reasons.size > 0 || signal?.aborted === true;
      if (isIncomplete) await removeEmpty(this.#target.createdFolders);
    }
    const paths = [...folders.map(([path]) => path), ...writes, ...removals, ...removedFolders];
    return paths.flatMap((path) => {
      const reason = this.#reasons.get(path);
      return reason === undefined ? [] : [{ path, reason }];
    });
  }

  /** Creates the folders in order. Those that a file blocks wait. */
  async #createFolders(): Promise<void> {
    for (const [path, mode] of this.#task.folders) {
      this.#task.signal?.throwIfAborted();
      await this.#collect(path, () => this.#target.createFolder(path, mode));
    }
  }

  async #write(path: string): Promise<void> {
    const file = await this.#findFile(path);
    await this.#settle(path, () => this.#target.write(path, file), file);
    this.#task.onWritten?.(path);
  }

  /** Tries the blocked paths again. The user's files may still block them. */
  async #writeWaiting(): Promise<void> {
    const { folders } = this.#task;
    const waiting = new Set(this.#waiting);
    this.#waiting.clear();
    for (const [path, mode] of folders.filter(([path]) => waiting.delete(path))) {
      await this.#collect(path, () =>
        this.#settle(path, () => this.#target.createFolder(path, mode), null, true),
      );
    }
    await this.#runForEach(waiting, async (path) => {
      const file = await this.#findFile(path);
      const write = () => this.#target.writeOverEmptyFolders(path, file);
      await this.#settle(path, write, file, true);
    });
  }

  /** Runs `work` and passes a conflict to the guard. */
  async #settle(
    path: string,
    work: () => Promise<void>,
    file: TreeFile | null = null,
    isLast = false,
  ): Promise<void> {
    const { guard } = this.#task;
    try {
      await work();
    } catch (error) {
      const isBlocked = isLast && error instanceof ObstructedError;
      const isConflict = error instanceof ConflictError || isBlocked;
      if (!isConflict || guard.expect(path) === "anything") throw error;
      const writeBeside = (written: TreeFile) => this.#target.writeBeside(path, written);
      await guard.onConflict({ path, problem: error.message, file, writeBeside });
    }
  }

  async #runForEach(paths: Iterable<string>, work: (path: string) => Promise<void>): Promise<void> {
    const runOne = (path: string) => this.#collect(path, () => work(path));
    const { signal } = this.#task;
    await forEachConcurrently(paths, runOne, { concurrency: MAX_CONCURRENT_FILES, signal });
  }

  async #collect(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#reasons.delete(path);
    } catch (error) {
      if (error instanceof ObstructedError) this.#waiting.add(path);
      this.#reasons.set(path, toSyncReason(error, this.#task.to));
    }
  }
}

const NOT_REMOVED =
  "It was not removed because other files could not be written. Fix those, then remove it.";

/** Removes empty folders, deepest first. */
async function removeEmpty(folders: ReadonlySet<string>): Promise<void> {
  const deepestFirst = [...folders].sort((one, other) => other.length - one.length);
  for (const folder of deepestFirst) await rmdir(folder).catch(() => {});
}
