import { realpath } from "node:fs/promises";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import { digestFolderInThread } from "../digests/digest-folder-in-thread.ts";
import type { MountedFolder } from "../mounts/mounted-folder.ts";
import type { DestinationRecord } from "../sync/plan-sync.ts";
import type { ConflictPolicy } from "../sync/sync-conflict.ts";
import type { SyncFailure } from "../sync/sync-failure.ts";
import { type SyncReport, syncTo } from "../sync/sync-report.ts";
import { diffFolderJob } from "./diff-folder.ts";
import { omitFailed } from "./omit-failed.ts";
import { WorkspaceDiff } from "./workspace-diff.ts";

/** The changes of a workspace's files since they were mounted. They can be shown, and carried to the host. */
export class WorkspaceChanges {
  readonly #folder: MountedFolder;
  readonly #onConflict: ConflictPolicy;
  readonly #records = new Map<string, DestinationRecord>();

  constructor(folder: MountedFolder, onConflict: ConflictPolicy = "keep") {
    this.#folder = folder;
    this.#onConflict = onConflict;
  }

  /** Compares the files with what was mounted. */
  async diff(): Promise<WorkspaceDiff> {
    const { root: folder, baseline } = this.#folder;
    const files = await runInThread(diffFolderJob, { folder, baseline }, DIFF_THREAD);
    return new WorkspaceDiff(files);
  }

  /** Syncs the files to a folder. `lost` are files that are known not to be in the workspace's folder. */
  async syncTo(directory: string, lost: readonly SyncFailure[] = []): Promise<SyncReport> {
    const { root, baseline, mountRoots } = this.#folder;
    const { files, folders, failed } = await digestFolderInThread(root);
    const source = {
      ...{ root, mountRoots, now: { files, folders } },
      mounted: omitFailed(baseline, failed),
      findSource: (path: string) => this.#folder.findSource(path),
    };
    const record = await this.#findRecord(directory);
    const options = { onConflict: this.#onConflict, record, failed: [...lost, ...failed] };
    const report = await syncTo(directory, source, options);
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
