import { FilesystemError } from "./filesystem-error.ts";
import { type RemoveTask, removeTree } from "./remove-tree.ts";
import { runInThread } from "./thread-task.ts";

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
    return await runInThread<boolean>("remove-folder-worker", task, { endedEarly });
  } catch (error) {
    if (error instanceof FilesystemError) throw error;
    return removeTree(task); // everybody waits, but where no thread starts nothing is left either
  }
}

/** Nobody sees this one. */
function endedEarly(cause: unknown): Error {
  return new Error("The thread that removes a folder ended before it was done", { cause });
}
