import { realpath } from "node:fs/promises";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import { digestFolderInThread } from "../digests/digest-folder-in-thread.ts";
import type { MountedFolder } from "../mounts/mounted-folder.ts";
import type { DestinationRecord } from "../sync/plan-sync.ts";
import type { ConflictPolicy } from "../sync/sync-conflict.ts";
import type { SyncFailure } from "../sync/sync-failure.ts";
import type { SyncReport } from "../sync/sync-report.ts";
import { syncTo } from "../sync/sync-to.ts";
import { diffFolderJob } from "./diff-folder.ts";
import { omitFailed } from "./omit-failed.ts";
import { WorkspaceDiff } from "./workspace-diff.ts";

/** Options of a sync. */
export interface WorkspaceSyncOptions {
  /** Files that are known not to be in the workspace's folder. @default none */
  readonly lost?: readonly SyncFailure[] | undefined;
  /** @default the policy of the workspace */
  readonly onConflict?: ConflictPolicy | undefined;
  /** Whether the workspace's folder is removed afterwards, so that unsaved files must be moved. @default false */
  readonly isLast?: boolean | undefined;
}

/** The changes of a workspace's files since they were mounted. They can be shown, and carried to the host. */
export class WorkspaceChanges {
  readonly #folder: MountedFolder;
  readonly #onConflict: ConflictPolicy;
  readonly #records = new Map<string, DestinationRecord>();

  constructor(folder: MountedFolder, onConflict: ConflictPolicy = "keep") {
    this.#folder = folder;
    this.#onConflict = onConflict;
  }

  /** Compares the files with the mounted versions. */
  async diff(): Promise<WorkspaceDiff> {
    const { root: folder, baseline } = this.#folder;
    const files = await runInThread(diffFolderJob, { folder, baseline }, DIFF_THREAD);
    return new WorkspaceDiff(files);
  }

  /** Syncs the files to a folder, which may be repeated. */
  async syncTo(directory: string, options: WorkspaceSyncOptions = {}): Promise<SyncReport> {
    const { lost = [], onConflict = this.#onConflict, isLast = false } = options;
    const { root, baseline, mountRoots } = this.#folder;
    const { files, folders, failed } = await digestFolderInThread(root);
    const source = {
      ...{ root, mountRoots, now: { files, folders } },
      mounted: omitFailed(baseline, failed),
      findSource: (path: string) => this.#folder.findSource(path),
    };
    const record = await this.#findRecord(directory);
    const { progress } = this.#folder;
    const report = await syncTo(directory, source, {
      ...{ onConflict, record, progress, failed: [...lost, ...failed] },
      moveAway: isLast ? () => this.#folder.moveAway() : undefined,
    });
    this.#records.set(await findRealPath(directory), record); // it may exist only now
    return report;
  }

  async #findRecord(directory: string): Promise<DestinationRecord> {
    const record = this.#records.get(await findRealPath(directory));
    return record ?? { files: new Map(), folders: new Set() };
  }
}

async function findRealPath(directory: string): Promise<string> {
  return await realpath(directory).catch(() => directory);
}

const DIFF_THREAD = {
  job: "compares the workspace with what was mounted",
  remedy: "try again; the files are unchanged",
};
