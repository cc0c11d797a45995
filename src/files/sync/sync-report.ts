import { deepFreeze } from "../../base/freeze.ts";
import type { SyncConflict } from "./sync-conflict.ts";
import type { SyncFailure } from "./sync-failure.ts";

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
