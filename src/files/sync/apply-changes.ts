import { runInThread } from "../../host/threads/run-in-thread.ts";
import { type ApplyChangesTask, applyChangesJob, applyChangesSync } from "./apply-changes-sync.ts";
import type { SyncFailure } from "./sync-failure.ts";

/** Up to this many steps, applying the changes here is faster than starting a thread. */
const MAX_INLINE_STEPS = 32;

/** Applies changes to a folder, off the event loop. Returns the failures in order. */
export async function applyChanges(task: ApplyChangesTask): Promise<readonly SyncFailure[]> {
  const { deleted, removedFolders, files, folders, modes = [] } = task;
  const all = [deleted, removedFolders, files, folders, modes];
  const steps = all.reduce((sum, { length }) => sum + length, 0);
  if (steps <= MAX_INLINE_STEPS) return applyChangesSync(task);
  return await runInThread(applyChangesJob, task, {
    job: "applies file changes",
    remedy: "try again; missing files are downloaded again",
  });
}
