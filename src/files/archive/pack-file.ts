import { runInThread } from "../../host/threads/run-in-thread.ts";
import type { PackOptions } from "./pack.ts";
import { writeTarFileJob } from "./tar/tar-file.ts";

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
  await runInThread(
    writeTarFileJob,
    { folder, path },
    { signal, job: "packs the folder", remedy: "pack it again" },
  );
}
