import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import {
  type UnpackedShare,
  type UnpackTask,
  unpackFiles,
  unpackFilesJob,
} from "./unpack-files.ts";

/** Options of {@link unpackArchive}. */
export interface UnpackOptions extends Pick<UnpackTask, "into" | "limits" | "note"> {
  readonly signal?: AbortSignal | undefined;
}

/** The contents of an unpacked archive. The files are in archive order. */
export type UnpackedArchive = UnpackedShare;

/** Up to this size, unpacking here is faster than starting a thread. */
const SMALL_BYTES = 64 * 1024;
/** Above this size, two threads are faster than one. */
const LARGE_BYTES = 1024 * 1024;

/**
 * Unpacks an untrusted archive into numbered files, off the event loop. If it fails, it stops writing and
 * leaves the files written so far to the caller.
 *
 * Throws the errors of `readTar`, Node's error if a file cannot be written, and the signal's reason.
 */
export async function unpackArchive(
  archive: string,
  { signal, ...options }: UnpackOptions,
): Promise<UnpackedArchive> {
  signal?.throwIfAborted();
  const { size } = await stat(archive);
  const shareCount = size > LARGE_BYTES ? 2 : 1;
  const tasks: UnpackTask[] = [];
  for (let index = 0; index < shareCount; index++) {
    const into = join(options.into, String(index)); // in one folder, the threads would wait for each other
    await mkdir(into);
    tasks.push({ ...options, archive, into, share: { index, count: shareCount } });
  }
  const shares =
    size > SMALL_BYTES
      ? await unpackInThreads(tasks, signal)
      : await Promise.all(tasks.map(unpackFiles));
  const files = shares.flatMap((share) => share.files);
  files.sort((one, other) => one.order - other.order);
  const note = shares.find((share) => share.note !== null)?.note ?? null;
  const [{ folders, skipped } = { folders: [], skipped: [] }] = shares; // each share reads all entries
  return { files, note, folders, skipped };
}

/** Runs one thread per task. The first failure stops all of them. */
async function unpackInThreads(
  tasks: readonly UnpackTask[],
  signal: AbortSignal | undefined,
): Promise<readonly UnpackedShare[]> {
  const failure = new AbortController();
  const stopSignal = signal ? AbortSignal.any([signal, failure.signal]) : failure.signal;
  const shares = tasks.map(async (task) => {
    try {
      return await runInThread(unpackFilesJob, task, {
        signal: stopSignal,
        job: "unpacks the archive",
        remedy: "fetch it again",
      });
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(shares);
  return await Promise.all(shares);
}
