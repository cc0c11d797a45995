import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deepFreeze } from "../../base/freeze.ts";
import { isSameState } from "../tree-state.ts";
import { ConflictsFolder } from "./conflicts-folder.ts";
import { HostGuard } from "./host-guard.ts";
import { type DestinationRecord, planSync, type SyncSource } from "./plan-sync.ts";
import type { ConflictPolicy, SyncConflict } from "./sync-conflict.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { syncFolder } from "./sync-folder.ts";

/** The result of syncing a workspace's files to the host. Paths are relative to the workspace. */
export interface SyncReport {
  /** The folder with the files, or `null` if no sync was requested. */
  readonly directory: string | null;
  /** Files that were not among the mounted files. */
  readonly added: readonly string[];
  /** Mounted files whose content or permissions have changed. */
  readonly changed: readonly string[];
  /** Mounted files that no longer exist in the workspace. */
  readonly deleted: readonly string[];
  /** Files that could not be synced. */
  readonly failed: readonly SyncFailure[];
  /** Files whose host version stays, because it is not the one that was mounted. See `onConflict`. */
  readonly conflicts: readonly SyncConflict[];
  /**
   * A folder with the workspace's versions of files in conflict, or with all files if some could not be written
   * to `directory`. Only this user can read it, and it is not deleted. `null` if nothing is in it.
   */
  readonly conflictsDir: string | null;
  /** The same as `conflictsDir` if some files could not be written to `directory`, otherwise `null`. */
  readonly keptIn: string | null;
}

/** The report of a workspace that was not synced, because no sync was requested. */
export const notSynced: SyncReport = deepFreeze({
  directory: null,
  added: [],
  changed: [],
  deleted: [],
  failed: [],
  conflicts: [],
  conflictsDir: null,
  keptIn: null,
});

/** Options of {@link syncTo}. */
export interface SyncToOptions {
  readonly onConflict: ConflictPolicy;
  /** What earlier syncs wrote to the folder. This one adds to it. */
  readonly record: DestinationRecord;
  /** Files that are known not to be synced. */
  readonly failed: readonly SyncFailure[];
}

/** Syncs a workspace's files to a folder and reports the changes since they were mounted. */
export async function syncTo(
  directory: string,
  source: SyncSource,
  { onConflict, record, failed }: SyncToOptions,
): Promise<SyncReport> {
  const { root, now, mounted } = source;
  const { findHostMode, ...changes } = await planSync(directory, source, record);
  const folder = new ConflictsFolder();
  const guard = new HostGuard({
    ...{ now, mounted, findHostMode, folder },
    ...{ policy: onConflict, written: record.files },
  });
  const synced = await syncFolder({ from: root, to: directory, ...changes, guard });
  for (const path of changes.folders.keys()) record.folders.add(path);
  const paths = [...now.files.keys()];
  const hasFailed = synced.failed.length > 0;
  const unsaved = hasFailed ? await folder.saveAll(root, paths) : [];
  return deepFreeze({
    directory,
    added: paths.filter((path) => !mounted.files.has(path)),
    changed: paths.filter((path) => isChanged(path, source)),
    deleted: [...mounted.files.keys()].filter((path) => !now.files.has(path)),
    failed: [...failed, ...synced.failed, ...unsaved],
    conflicts: guard.conflicts,
    conflictsDir: folder.path,
    keptIn: hasFailed ? folder.path : null,
  });
}

function isChanged(path: string, { mounted, now }: SyncSource): boolean {
  return mounted.files.has(path) && !isSameState(mounted.files.get(path), now.files.get(path));
}

/** Creates a temporary folder for synced files. It is not removed automatically. */
export async function createSyncFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "wink-synced-"));
}
