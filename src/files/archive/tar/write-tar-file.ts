import { closeSync, openSync, writeSync } from "node:fs";
import { threadJob } from "../../../host/threads/thread-job.ts";
import { toFilesystemErrorWithRemedy } from "../../../host/to-filesystem-error.ts";
import { writeTar } from "./write-tar.ts";

/** A folder to pack, and the path of the new tar file. */
export interface TarFileTask {
  readonly folder: string;
  readonly path: string;
}

/**
 * Writes the tar of a folder to a new file. Synchronous, so run it in a thread. Uses the memory of one chunk.
 * Throws `FilesystemError` and then leaves the partial file.
 */
export function writeTarFile({ folder, path }: TarFileTask): void {
  const file = withDiskErrors(path, () => openSync(path, "wx"));
  try {
    const emit = (chunk: Uint8Array) => withDiskErrors(path, () => writeAll(file, chunk));
    writeTar(folder, emit, { reusesChunk: true });
  } finally {
    closeSync(file);
  }
}

/** Runs `writeTarFile` in a thread. */
export const writeTarFileJob = threadJob(import.meta.url, writeTarFile);

function writeAll(file: number, chunk: Uint8Array): void {
  for (let done = 0; done < chunk.length; ) done += writeSync(file, chunk, done);
}

function withDiskErrors<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, path, "choose another path for the archive");
  }
}
