import { type ProgressListener, trackBytes } from "../../base/track-bytes.ts";
import { createByteCounter, readByteCounter } from "../../host/threads/byte-counter.ts";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import type { PackOptions } from "./pack-directory.ts";
import { type TarFileTask, writeTarFileJob } from "./tar/write-tar-file.ts";

/** Options of {@link packToFile}. */
export interface PackToFileOptions extends PackOptions, Pick<TarFileTask, "maxBytes"> {
  /** Receives the progress, if `maxBytes` is set. @default no one does */
  readonly progress?: ProgressListener | null | undefined;
}

/**
 * Packs a folder into a new tar file like `packDirectory`, but keeps the permission bits of files. Returns
 * the modes that are not 644, by path. A thread reads and writes, so no file content passes through the
 * calling thread. If it fails, the caller removes the partial file.
 *
 * Throws `FilesystemError` if an entry is neither a file nor a folder, if an entry cannot be read, or
 * if the disk is full; `WorkspaceBudgetExceededError` if the tar would be larger than `maxBytes`; and the
 * signal's reason on abort.
 */
export async function packToFile(
  folder: string,
  path: string,
  { signal, maxBytes, progress }: PackToFileOptions = {},
): Promise<ReadonlyMap<string, number>> {
  signal?.throwIfAborted();
  const counter = progress ? createByteCounter() : undefined;
  const task = { folder, path, maxBytes, counter };
  const pack = () =>
    runInThread(writeTarFileJob, task, {
      signal,
      job: "packs the folder",
      remedy: "pack it again",
    });
  if (!progress || !counter) return await pack();
  return await trackBytes(progress, { step: "pack", read: () => readByteCounter(counter) }, pack);
}
