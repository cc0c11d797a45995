import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import {
  type UnpackedFile,
  type UnpackedShare,
  type UnpackTask,
  unpackFiles,
  unpackFilesJob,
} from "./unpack-files.ts";

/** How an archive is unpacked, and what may end that. */
export interface UnpackOptions extends Pick<UnpackTask, "into" | "limits" | "note"> {
  readonly signal?: AbortSignal | undefined;
}

/** What was in an archive. */
export interface UnpackedArchive {
  /** In the order of the archive. */
  readonly files: readonly UnpackedFile[];
  /** `null` if there was none. */
  readonly note: Uint8Array | null;
}

/** So little is unpacked before a thread would have started. */
const SMALL_BYTES = 64 * 1024;
/** From here on it pays that one thread makes files while another does. */
const LARGE_BYTES = 1024 * 1024;

/**
 * Unpacks an archive that nobody vouches for into numbered files, off the event loop. When it fails,
 * nothing is written any more, and what was is left to whoever owns the folder.
 *
 * Throws what `readTar` throws, what this machine says if it cannot write, and the signal's reason.
 */
export async function unpackArchive(
  archive: string,
  { signal, ...options }: UnpackOptions,
): Promise<UnpackedArchive> {
  signal?.throwIfAborted();
  const { size } = await stat(archive);
  const of = size > LARGE_BYTES ? 2 : 1;
  const tasks: UnpackTask[] = [];
  for (let which = 0; which < of; which++) {
    const into = join(options.into, String(which)); // in one folder, each would wait for the other
    await mkdir(into);
    tasks.push({ ...options, archive, into, share: { which, of } });
  }
  const shares =
    size > SMALL_BYTES ? await inThreads(tasks, signal) : await Promise.all(tasks.map(unpackFiles));
  const files = shares.flatMap((share) => share.files);
  files.sort((one, other) => one.order - other.order);
  return { files, note: shares.find(({ note }) => note !== null)?.note ?? null };
}

/** The first failure ends them all. */
async function inThreads(
  tasks: readonly UnpackTask[],
  signal: AbortSignal | undefined,
): Promise<readonly UnpackedShare[]> {
  const failed = new AbortController();
  const over = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const shares = tasks.map(async (task) => {
    try {
      return await runInThread(unpackFilesJob, task, {
        signal: over,
        job: "unpacks the archive",
        remedy: "fetch it again",
      });
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(shares);
  return await Promise.all(shares);
}
