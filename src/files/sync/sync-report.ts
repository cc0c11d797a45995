import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deepFreeze } from "../../base/freeze.ts";
import { syncFolder } from "./sync-folder.ts";
import type { SyncFailure } from "./sync-reason.ts";

/** What came of bringing a workspace's files back. Paths are those of the workspace. */
export interface SyncReport {
  /** Where the files are; `null` if none were asked for. */
  readonly directory: string | null;
  /** Compared with what was mounted. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly failed: readonly SyncFailure[];
  /** Where all files are besides, because some could not be written to `directory`; else `null`. */
  readonly keptIn: string | null;
}

/** The files of a workspace as they are on this machine. */
export interface SyncSource {
  /** Where they are. */
  readonly root: string;
  /** The digests of what was mounted. */
  readonly original: ReadonlyMap<string, string>;
  /** The real path of the host file that a path was copied from, if it was. */
  sourceOf(path: string): string | null;
  /** The digest of every file there is now. */
  digests(): Promise<ReadonlyMap<string, string>>;
}

/** Nothing was brought back, because nobody asked for it. */
export const notSynced: SyncReport = deepFreeze({
  directory: null,
  added: [],
  changed: [],
  deleted: [],
  failed: [],
  keptIn: null,
});

/** Brings a workspace's files to a folder: aside first, then into their places. */
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
  // What nobody changed is not put over what it was copied from, which may be newer by now.
  const written = paths.filter((path) => {
    const isItsSource = home !== null && source.sourceOf(path) === join(home, path);
    return !isItsSource || original.get(path) !== now.get(path);
  });
  const files = { from: source.root, to: directory, changed: written, deleted };
  const synced = await syncFolder(files);
  const keptIn = synced.failed.length > 0 ? await kept(source.root, paths) : null;
  return deepFreeze({
    directory,
    added: paths.filter((path) => !original.has(path)),
    changed: paths.filter((path) => original.has(path) && original.get(path) !== now.get(path)),
    deleted,
    failed: [...failed, ...synced.failed],
    keptIn,
  });
}

/** Nothing is lost because a destination was closed or full. */
async function kept(from: string, changed: readonly string[]): Promise<string> {
  const to = await newSyncFolder();
  await syncFolder({ from, to, changed, deleted: [] });
  return to;
}

/** A folder for what is brought back, which stays. */
export async function newSyncFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "wink-synced-"));
}
