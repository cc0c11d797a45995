import { runInThread } from "../../host/threads/run-in-thread.ts";
import type { SyncFailure } from "./sync-reason.ts";
import { type TakeOverTask, takeOver, takeOverJob } from "./take-over.ts";

/** So few are taken over before a thread would have started. */
const FEW = 32;

/** Takes changes over into a tree, off the event loop. Gives what could not be done, in order. */
export async function takeChanges(task: TakeOverTask): Promise<readonly SyncFailure[]> {
  const { deleted, gone, files, folders } = task;
  const steps = deleted.length + gone.length + files.length + folders.length;
  if (steps <= FEW) return takeOver(task);
  return await runInThread(takeOverJob, task, {
    job: "takes files over",
    remedy: "what is missing is fetched again, try again",
  });
}
