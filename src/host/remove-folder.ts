import { FilesystemError } from "../base/filesystem-error.ts";
import { type RemoveTask, removeTree, removeTreeJob } from "./remove-tree.ts";
import { runInThread } from "./threads/run-in-thread.ts";

/** Removes a temporary folder off the event loop; `false` if it is gone already. */
export async function removeFolder(folder: string): Promise<boolean> {
  return await carryOut({ type: "remove", folder });
}

/** Removes what is in a folder off the event loop; the folder stays. */
export async function emptyFolder(folder: string): Promise<void> {
  await carryOut({ type: "empty", folder });
}

async function carryOut(task: RemoveTask): Promise<boolean> {
  try {
    return await runInThread(removeTreeJob, task, {
      job: "removes a folder",
      remedy: "remove it again",
    });
  } catch (error) {
    if (error instanceof FilesystemError) throw error;
    return removeTree(task); // everybody waits, but where no thread starts nothing is left either
  }
}
