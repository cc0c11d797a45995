import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { acquireLock, type FileLock } from "../../host/file-lock.ts";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import type { SyncFailure } from "../sync/sync-failure.ts";
import { isSameState, type TreeState } from "../tree-state.ts";
import { TEMPORARY_PREFIX } from "./blob-writer.ts";
import { type KnownFile, keepTreeJob } from "./keep-tree.ts";
import { preparePrivateFolder } from "./private-folder.ts";
import { readKeptState } from "./read-manifest.ts";
import { type RestoredTree, type RestoreTreeTask, restoreTreeJob } from "./restore-tree.ts";
import { writeManifest } from "./write-manifest.ts";

/** The result of {@link KeptFolder.keep}. */
export interface KeptState {
  /** The files and folders that are kept now. */
  readonly tree: TreeState;
  /** The entries that cannot be kept, such as symlinks, and why. */
  readonly failed: readonly SyncFailure[];
}

/** Options of a {@link KeptFolder}. */
export interface KeptFolderOptions {
  /** Whether the bytes of a file that no recent tree has may be removed. @default always */
  readonly canRemove?: ((digest: string) => boolean) | undefined;
}

/**
 * Keeps the files of a workspace so that they survive the process: their bytes as `blobs/<SHA-256>`, then
 * `manifest.json`, which names them. A crash at any moment leaves the files of the last `keep`. One process at a
 * time can open the folder. Without a folder, only digests are computed.
 */
export class KeptFolder {
  /** The folder, or `null` if nothing is stored. */
  readonly path: string | null;
  #lock: FileLock | null = null;
  #known: ReadonlyMap<string, KnownFile> = new Map();
  #last: TreeState | null = null;
  #mounted: TreeState | null = null;
  /** The digests that each of the last trees no longer has. */
  #retired: ReadonlySet<string>[] = [];
  /** Digests that no recent tree has and that could not be removed yet. */
  #waiting: ReadonlySet<string> = new Set();
  readonly #canRemove: (digest: string) => boolean;

  /** `path` is the folder, which is created when it is opened. */
  constructor(path: string | null, { canRemove = () => true }: KeptFolderOptions = {}) {
    this.#canRemove = canRemove;
    this.path = path === null ? null : resolve(path);
  }

  /** Locks the folder. Throws `FilesystemError` if another process uses it or it is not private. */
  async open(): Promise<void> {
    if (this.path === null || this.#lock) return;
    await preparePrivateFolder(this.path);
    await preparePrivateFolder(join(this.path, BLOBS));
    this.#lock = await lockFolder(this.path);
  }

  /** Reads the kept files: the last tree, or the files as they were mounted. Returns `null` if there is nothing. */
  read(which: "manifest" | "mounted"): TreeState | null {
    return this.path === null ? null : readKeptState(this.path, which);
  }

  /** Keeps the files below `folder`. If that fails, the files of the last `keep` are still kept. */
  async keep(folder: string): Promise<KeptState> {
    const blobs = this.path === null ? null : join(this.path, BLOBS);
    const task = { folder, blobs, known: this.#known };
    const { known, files, folders, failed } = await runInThread(keepTreeJob, task, {
      job: "keeps the workspace's files",
      remedy: "try again; files kept earlier are unchanged",
    });
    const tree = { files, folders };
    const last = this.#last;
    if (this.path !== null && !(last && isSameTree(last, tree))) {
      await writeManifest(join(this.path, "manifest.json"), tree);
      if (last) await this.#retire(this.path, last, tree);
    }
    this.#known = known;
    this.#last = tree;
    return { tree, failed };
  }

  /** Keeps which files were mounted, so that changes can be found later. Their bytes must be kept. */
  async keepMounted(tree: TreeState): Promise<void> {
    this.#mounted = tree;
    if (this.path !== null) await writeManifest(join(this.path, "mounted.json"), tree);
  }

  /** Fills an empty folder with kept files, and removes the bytes of all others. */
  async restore(task: Omit<RestoreTreeTask, "blobs">): Promise<RestoredTree> {
    const path = this.path ?? "";
    const blobs = join(path, BLOBS);
    const restored = await runInThread(
      restoreTreeJob,
      { ...task, blobs },
      { job: "restores the workspace's files", remedy: "try again; the kept files are unchanged" },
    );
    this.#mounted = task.mounted;
    await this.#collect(path, [task.tree, task.mounted]);
    return restored;
  }

  /** Unlocks the folder. The kept files stay. */
  async close(): Promise<void> {
    const lock = this.#lock;
    this.#lock = null;
    await lock?.release();
  }

  /** Removes the bytes that none of the last trees has. An earlier one may be what the session has stored. */
  async #retire(path: string, before: TreeState, now: TreeState): Promise<void> {
    const inUse = listDigests(now, this.#mounted);
    this.#retired.push(new Set([...listDigests(before)].filter((digest) => !inUse.has(digest))));
    const oldest = this.#retired.length > MAX_TREES_BACK ? this.#retired.shift() : undefined;
    const isRetired = (digest: string) => this.#retired.some((later) => later.has(digest));
    const waiting = new Set<string>();
    for (const digest of [...(oldest ?? []), ...this.#waiting]) {
      if (inUse.has(digest) || isRetired(digest)) continue;
      if (this.#canRemove(digest)) await rm(join(path, BLOBS, digest), { force: true });
      else waiting.add(digest);
    }
    this.#waiting = waiting;
  }

  /** Removes the bytes that no tree has, and the leftovers of a crash. */
  async #collect(path: string, trees: readonly TreeState[]): Promise<void> {
    const inUse = listDigests(...trees);
    for (const name of await readdir(join(path, BLOBS))) {
      if (!inUse.has(name)) await rm(join(path, BLOBS, name), { recursive: true, force: true });
    }
    for (const name of await readdir(path)) {
      if (name.startsWith(TEMPORARY_PREFIX)) await rm(join(path, name), { force: true });
    }
  }
}

/** Name of the folder with the files' bytes, in a kept folder. */
export const BLOBS = "blobs";

/** How many trees back the bytes of a file are kept. */
const MAX_TREES_BACK = 3;

async function lockFolder(path: string): Promise<FileLock> {
  let taken: Awaited<ReturnType<typeof acquireLock>>;
  try {
    taken = await acquireLock(join(path, "lock"), systemClock);
  } catch (error) {
    throw new FilesystemError("EACCES", path, `cannot be locked: ${getErrorMessage(error)}`, error);
  }
  if ("release" in taken) return taken;
  const { pid, host } = taken;
  const who =
    pid === process.pid ? "another workspace of this process" : `process ${pid} on ${host}`;
  const remedy = "Wait until it has called cleanup(), or use another folder.";
  throw new FilesystemError("EACCES", path, `is used by ${who}. ${remedy}`);
}

function listDigests(...trees: readonly (TreeState | null)[]): ReadonlySet<string> {
  return new Set(
    trees.flatMap((tree) => [...(tree?.files.values() ?? [])].map((one) => one.digest)),
  );
}

/** Whether two trees have the same files and folders. */
export function isSameTree(one: TreeState, other: TreeState): boolean {
  if (one.files.size !== other.files.size || one.folders.size !== other.folders.size) return false;
  for (const [path, state] of one.files)
    if (!isSameState(state, other.files.get(path))) return false;
  for (const [path, mode] of one.folders) if (other.folders.get(path) !== mode) return false;
  return true;
}
