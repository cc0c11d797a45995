import { WinkError } from "../base/errors.ts";
import type { SyncFailure } from "./sync-reason.ts";
import { type TakeOverTask, takeOver } from "./take-over.ts";
import { runInThread } from "./thread-task.ts";

/** So few are taken over before a thread would have started. */
const FEW = 32;

/** Takes changes over into a tree, off the event loop. Gives what could not be done, in order. */
export async function takeChanges(task: TakeOverTask): Promise<readonly SyncFailure[]> {
  const { deleted, gone, files, folders } = task;
  const steps = deleted.length + gone.length + files.length + folders.length;
  if (steps <= FEW) return takeOver(task);
  return await runInThread("take-over-worker", task, { endedEarly });
}

function endedEarly(cause: unknown): WinkError {
  const problem = "The thread that takes files over ended before it was done";
  return new WinkError(`${problem}: what is missing is fetched again, try again`, { cause });
}
