import { runInThread } from "../../host/threads/run-in-thread.ts";
import type { PackOptions } from "./pack-directory.ts";
import { writeTarFileJob } from "./tar/write-tar-file.ts";

/**
 * Packs a folder into a new tar file like `packDirectory`, but keeps the permission bits of files. Returns
 * the modes that are not 644, by path. A thread reads and writes, so no file content passes through the
 * calling thread. If it fails, the caller removes the partial file.
 *
 * Throws `FilesystemError` if an entry is neither a file nor a folder, if an entry cannot be read, or
 * if the disk is full. Throws the signal's reason on abort.
 */
export async function packToFile(
  folder: string,
  path: string,
  { signal }: PackOptions = {},
): Promise<ReadonlyMap<string, number>> {
  signal?.throwIfAborted();
  return await runInThread(
    writeTarFileJob,
    { folder, path },
    { signal, job: "packs the folder", remedy: "pack it again" },
  );
}
