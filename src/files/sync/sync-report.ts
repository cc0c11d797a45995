import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deepFreeze } from "../../base/freeze.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { syncFolder } from "./sync-folder.ts";

/** The result of syncing a workspace's files to the host. Paths are relative to the workspace. */
export interface SyncReport {
  /** The folder with the files, or `null` if no sync was requested. */
  readonly directory: string | null;
  /** Files that were not among the mounted files. */
  readonly added: readonly string[];
  /** Mounted files whose content has changed. */
  readonly changed: readonly string[];
  /** Mounted files that no longer exist in the workspace. */
  readonly deleted: readonly string[];
  /** Files that could not be synced. */
  readonly failed: readonly SyncFailure[];
  /** A folder with a copy of all files if some could not be written to `directory`, otherwise `null`. */
  readonly keptIn: string | null;
}

/** Workspace files on the host. */
export interface SyncSource {
  /** The folder with the files. */
  readonly root: string;
  /** The digests of the mounted files, by path. */
  readonly original: ReadonlyMap<string, string>;
  /** Returns the real path of the host file that a path was copied from, or `null`. */
  sourceOf(path: string): string | null;
  /** Returns the digest of every current file, by path. */
  digests(): Promise<ReadonlyMap<string, string>>;
}

/** The report of a workspace that was not synced, because no sync was requested. */
export const notSynced: SyncReport = deepFreeze({
  directory: null,
  added: [],
  changed: [],
  deleted: [],
  failed: [],
  keptIn: null,
});

/** Syncs a workspace's files to a folder and reports the changes since they were mounted. */
export async function syncTo(
  directory: string,
  source: SyncSource,
  failed: readonly SyncFailure[],
): Promise<SyncReport> {
  const now = await source.digests();
  const { original } = source;
  const paths = [...now.keys()];
  const deleted = [...original.keys()].filter((path) => !now.has(path));
  const home = await realpath(directory).catch(() => null);
  // Do not overwrite the source of an unchanged file: the source may be newer.
  const written = paths.filter((path) => {
    const isItsSource = home !== null && source.sourceOf(path) === join(home, path);
    return !isItsSource || original.get(path) !== now.get(path);
  });
  const files = { from: source.root, to: directory, changed: written, deleted };
  const synced = await syncFolder(files);
  const keptIn = synced.failed.length > 0 ? await saveCopy(source.root, paths) : null;
  return deepFreeze({
    directory,
    added: paths.filter((path) => !original.has(path)),
    changed: paths.filter((path) => original.has(path) && original.get(path) !== now.get(path)),
    deleted,
    failed: [...failed, ...synced.failed],
    keptIn,
  });
}

/** Copies all files to a new folder, so that no file is lost if the destination cannot be written. */
async function saveCopy(from: string, changed: readonly string[]): Promise<string> {
  const folder = await createSyncFolder();
  await syncFolder({ from, to: folder, changed, deleted: [] });
  return folder;
}

/** Creates a temporary folder for synced files. It is not removed automatically. */
export async function createSyncFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "wink-synced-"));
}
