import { readdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { getErrorMessage } from "../../base/errors.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { normalizePath, ROOT } from "../path.ts";
import { createSyncTarget } from "./create-sync-target.ts";
import { type SyncFailure, toSyncReason } from "./sync-failure.ts";
import { replaceAnything, type SyncGuard } from "./sync-guard.ts";
import type { SyncTask } from "./sync-task.ts";
import { updateSyncTarget } from "./update-sync-target.ts";

/** The files to sync to a folder. */
export interface FolderSync {
  /** The source folder. */
  readonly from: string;
  /** The destination folder. It is created if it does not exist. */
  readonly to: string;
  /** The files to write. A new folder receives only these. */
  readonly changed: readonly string[];
  /** The files to remove, if they exist. */
  readonly deleted: readonly string[];
  /** The folders to create, with their permission bits. @default only those that files need */
  readonly folders?: ReadonlyMap<string, number> | undefined;
  /** The folders to remove if they are empty. @default none */
  readonly removedFolders?: readonly string[] | undefined;
  /** Decides which existing files may be changed. @default all of them */
  readonly guard?: SyncGuard | undefined;
  /** Called when a file is written, or left alone because of a conflict. @default nothing */
  readonly onWritten?: ((path: string) => void) | undefined;
}

/** Options of {@link syncFolder}. */
export interface SyncOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The result of {@link syncFolder}. */
export interface FolderSyncResult {
  /** The files that were not written or removed. All others were. */
  readonly failed: readonly SyncFailure[];
}

/**
 * Syncs files to a destination folder. A missing or empty folder receives all files at once, or stays
 * unchanged. In a folder with files, each file is replaced atomically and other files are not touched; files
 * are removed only if every write succeeded. A symlink that leads out of the folder is never followed. An
 * invalid path fails alone and does not stop the others. Conflicts are passed to the guard.
 *
 * Throws only the signal's reason.
 */
export async function syncFolder(
  sync: FolderSync,
  { signal }: SyncOptions = {},
): Promise<FolderSyncResult> {
  signal?.throwIfAborted();
  const { from, to, folders = new Map<string, number>(), guard = replaceAnything } = sync;
  const { onWritten } = sync;
  const written = checkPaths(sync.changed);
  const removed = checkPaths(sync.deleted);
  const writes = [...written.paths];
  const removals = [...removed.paths].filter((path) => !written.paths.has(path));
  const rejected = [...written.rejected, ...removed.rejected];
  try {
    const { kind, real } = await inspectDestination(resolve(to));
    const task: SyncTask = {
      ...{ from: await realpath(from), to: real, writes, removals, guard, signal, onWritten },
      folders: [...folders].sort(([one], [other]) => one.length - other.length),
      removedFolders:
        sync.removedFolders?.toSorted((one, other) => other.length - one.length) ?? [],
    };
    const failed =
      kind === "filled" ? await updateSyncTarget(task) : await createSyncTarget(task, kind);
    return { failed: [...rejected, ...failed] };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = toSyncReason(error, to);
    return { failed: [...rejected, ...[...writes, ...removals].map((path) => ({ path, reason }))] };
  }
}

interface CheckedPaths {
  readonly paths: ReadonlySet<string>;
  readonly rejected: readonly SyncFailure[];
}

function checkPaths(given: readonly string[]): CheckedPaths {
  const paths = new Set<string>();
  const rejected: SyncFailure[] = [];
  for (const path of given) {
    try {
      const checked = normalizePath(path);
      if (checked === ROOT)
        rejected.push({ path, reason: "The path is the folder itself. Use the path of a file." });
      else paths.add(checked);
    } catch (error) {
      rejected.push({ path, reason: getErrorMessage(error) });
    }
  }
  return { paths, rejected };
}

interface Destination {
  readonly kind: "missing" | "empty" | "filled";
  /** A real path, if the folder exists. */
  readonly real: string;
}

async function inspectDestination(to: string): Promise<Destination> {
  try {
    const real = await realpath(to);
    return { kind: (await readdir(real)).length === 0 ? "empty" : "filled", real };
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return { kind: "missing", real: to };
    throw error;
  }
}
