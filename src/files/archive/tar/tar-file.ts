import { closeSync, openSync, writeSync } from "node:fs";
import { mountError } from "../../../host/host-error.ts";
import { threadJob } from "../../../host/threads/thread-job.ts";
import { writeTar } from "./tar-writer.ts";

/** What is packed, and the new file that becomes its tar. */
export interface TarFileTask {
  readonly folder: string;
  readonly path: string;
}

/**
 * Writes the tar of a folder to a new file, synchronously: for a thread. What it holds at any time is
 * one chunk. Throws `FilesystemError`; what was written until then stays.
 */
export function writeTarFile({ folder, path }: TarFileTask): void {
  const file = onDisk(path, () => openSync(path, "wx"));
  try {
    const emit = (chunk: Uint8Array) => onDisk(path, () => writeAll(file, chunk));
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

function onDisk<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw mountError(error, path, "an archive could not be written there");
  }
}
