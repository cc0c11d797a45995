import { closeSync, openSync, writeSync } from "node:fs";
import { addBytes, type ByteCounter, setTotalBytes } from "../../../host/threads/byte-counter.ts";
import { threadJob } from "../../../host/threads/thread-job.ts";
import { toFilesystemErrorWithRemedy } from "../../../host/to-filesystem-error.ts";
import { checkTarSize, readSizes } from "./tar-size.ts";
import { writeTar } from "./write-tar.ts";

/** A folder to pack, and the path of the new tar file. */
export interface TarFileTask {
  readonly folder: string;
  readonly path: string;
  /** A larger tar is an error, before any file is read. @default any size is accepted */
  readonly maxBytes?: number | undefined;
  /** Counts the bytes that are written. @default they are not counted */
  readonly counter?: ByteCounter | undefined;
}

/**
 * Writes the tar of a folder to a new file, with the permission bits of its files. Synchronous, so run it in
 * a thread. Uses the memory of one chunk. Returns the modes that are not 644, by path. Throws
 * `FilesystemError` and then leaves the partial file, and `WorkspaceBudgetExceededError` before it writes one.
 */
export function writeTarFile(task: TarFileTask): ReadonlyMap<string, number> {
  const { folder, path, maxBytes, counter } = task;
  const modes = new Map<string, number>();
  if (maxBytes !== undefined) setTotalBytes(counter, checkTarSize(readSizes(folder), maxBytes));
  const file = withDiskErrors(path, () => openSync(path, "wx"));
  try {
    const emit = (chunk: Uint8Array) => {
      withDiskErrors(path, () => writeAll(file, chunk));
      addBytes(counter, chunk.length);
    };
    const onMode = (entry: string, mode: number) => void modes.set(entry, mode);
    writeTar(folder, emit, { reusesChunk: true, onMode });
  } finally {
    closeSync(file);
  }
  return modes;
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
