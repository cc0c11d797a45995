import { WinkError } from "../base/errors.ts";
import type { PackOptions } from "./pack.ts";
import { runInThread } from "./thread-task.ts";

/**
 * Packs a folder into a new file, as `packDirectory` would: a thread reads and writes, so that
 * nothing of it passes through this one. A file that is not whole is left to whoever owns its folder.
 *
 * Throws `FilesystemError` for what is neither file nor folder, cannot be read or finds no room, and
 * the signal's reason.
 */
export async function packToFile(
  folder: string,
  path: string,
  { signal }: PackOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  await runInThread("pack-file-worker", { folder, path }, { endedEarly, signal });
}

function endedEarly(cause: unknown): WinkError {
  const problem = "The thread that packs the folder ended before it was done: pack it again";
  return new WinkError(problem, { cause });
}
