import { lstat, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deepFreeze } from "../../base/freeze.ts";
import { type ProgressListener, trackBytes } from "../../base/track-bytes.ts";
import { isSameState } from "../tree-state.ts";
import { ConflictsFolder } from "./conflicts-folder.ts";
import { HostGuard } from "./host-guard.ts";
import { type DestinationRecord, planSync, type SyncSource } from "./plan-sync.ts";
import type { ConflictPolicy } from "./sync-conflict.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { type FolderSync, type FolderSyncResult, syncFolder } from "./sync-folder.ts";
import type { SyncReport } from "./sync-report.ts";

/** Options of {@link syncTo}. */
export interface SyncToOptions {
  readonly onConflict: ConflictPolicy;
  /** The files that earlier syncs wrote to the folder. This one adds to them. */
  readonly record: DestinationRecord;
  /** Files that are known not to be synced. */
  readonly failed: readonly SyncFailure[];
  /** Moves all files to a folder that stays, if no copy of them can be saved. @default they are reported as failed */
  readonly moveAway?: (() => Promise<string>) | undefined;
  /** Receives the progress of the copies. @default no one does */
  readonly progress?: ProgressListener | null | undefined;
}

/** Syncs a workspace's files to a folder and reports the changes since they were mounted. */
export async function syncTo(
  directory: string,
  source: SyncSource,
  { onConflict, record, failed, moveAway, progress }: SyncToOptions,
): Promise<SyncReport> {
  const { root, now, mounted } = source;
  const { findHostSource, ...changes } = await planSync(directory, source, record);
  const folder = new ConflictsFolder();
  const guard = new HostGuard({
    ...{ now, mounted, findHostSource, folder },
    ...{ policy: onConflict, written: record.files },
  });
  const sync = { from: root, to: directory, ...changes, guard };
  const synced = progress ? await trackSync(progress, sync) : await syncFolder(sync);
  for (const path of changes.folders.keys()) record.folders.add(path);
  const paths = [...now.files.keys()];
  const hasFailed = synced.failed.length > 0;
  const unsaved = hasFailed ? await folder.saveAll(root, paths) : [];
  const moved = unsaved.length > 0 && moveAway ? await moveAway() : null;
  const conflictsDir = moved ?? folder.path;
  return deepFreeze({
    directory,
    added: paths.filter((path) => !mounted.files.has(path)),
    changed: paths.filter((path) => isChanged(path, source)),
    deleted: [...mounted.files.keys()].filter((path) => !now.files.has(path)),
    failed: [...failed, ...synced.failed, ...(moved === null ? unsaved : [])],
    conflicts: guard.conflicts,
    conflictsDir,
    keptIn: hasFailed ? conflictsDir : null,
  });
}

/** Syncs a folder and reports the bytes of the files that are written. */
async function trackSync(progress: ProgressListener, sync: FolderSync): Promise<FolderSyncResult> {
  const sizes = new Map<string, number>();
  let [totalBytes, doneBytes] = [0, 0];
  for (const path of sync.changed) {
    const size = (await lstat(join(sync.from, path)).catch(() => null))?.size ?? 0;
    sizes.set(path, size);
    totalBytes += size;
  }
  const onWritten = (path: string) => {
    doneBytes += sizes.get(path) ?? 0;
  };
  const tracked = { step: "fetch", read: () => ({ doneBytes, totalBytes }) } as const;
  return await trackBytes(progress, tracked, () => syncFolder({ ...sync, onWritten }));
}

function isChanged(path: string, { mounted, now }: SyncSource): boolean {
  return mounted.files.has(path) && !isSameState(mounted.files.get(path), now.files.get(path));
}

/** Creates a temporary folder for synced files. It is not removed automatically. */
export async function createSyncFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "wink-synced-"));
}
