import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { type Clock, orAborted, systemClock } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import { reserveFolder, type TemporaryFolder } from "../../host/temporary-folder.ts";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import type { ThreadJob } from "../../host/threads/thread-job.ts";
import { isWithin } from "../filesystem/host-place.ts";
import { takeError } from "./failure.ts";
import type { FolderRestoreResult } from "./restore-report.ts";
import { type RestoreTask, restoreTreeJob } from "./restore-tree.ts";
import { StopFlag } from "./stop-flag.ts";
import { type TakeTask, takeTreeJob } from "./take-tree.ts";

/** What may end all work on a checkpoint, and what time it is. */
export interface FolderCheckpointOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Says which files were changed too shortly before to be known by their times: they are compared
   * byte by byte. Ahead of the machine's time, it would miss changes. @default the machine's
   */
  readonly clock?: Clock | undefined;
}

/**
 * Keeps a copy of a folder, so that what any process did to it can be undone.
 *
 * Bytes, permissions, owners (as far as this user may give files away), empty folders and symlinks
 * are kept; times, access lists and which names are hard links of one file are not: what comes back
 * is a file of its own that was written now. Symlinks are never followed, and pipes, sockets and
 * devices never opened. All is done by a thread, one call after the other.
 */
export class FolderCheckpoint implements AsyncDisposable {
  readonly folder: string;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  readonly #lock = new SharedLock();
  readonly #disposal = new AbortController();
  #copies: TemporaryFolder | null = null;
  #last: Taken | null = null;
  #attempts = 0;

  /** Nothing is read or copied yet. */
  constructor(folder: string, { signal, clock = systemClock }: FolderCheckpointOptions = {}) {
    this.folder = resolve(folder);
    this.#signal = signal;
    this.#clock = clock;
  }

  /**
   * Remembers the folder as it is now, instead of what was remembered before. The first time all of
   * it is copied (by reference, where the disk can), later only what has changed since. A file that
   * somebody writes to all the while is remembered as it was found last.
   *
   * Throws `FilesystemError` for what cannot be read or copied, and the signal's reason; then the
   * checkpoint before is still good.
   */
  async take(signal?: AbortSignal): Promise<void> {
    await this.#alone(signal, async (ended) => {
      const folder = await this.#realFolder();
      const copies = await this.#folderForCopies(folder);
      const last = this.#last?.records ?? null;
      const now = this.#clock.now();
      this.#attempts += 1;
      const attempt = this.#attempts;
      const createTask = (stop: SharedArrayBuffer) =>
        ({ folder, copies, last, attempt, now, stop }) satisfies TakeTask;
      const records = await inThread(takeTreeJob, createTask, ended);
      ended.throwIfAborted();
      this.#last = { folder, copies, records };
    });
  }

  /**
   * Makes the folder what it was when the checkpoint was taken, which can be done again. Each file is
   * replaced in one step; what fails is in the result, and stops nothing else.
   *
   * Throws `FilesystemError` if nothing was taken, or the folder above is gone, and the signal's
   * reason; then some of it may have been done, and the checkpoint is still good.
   */
  async restore(signal?: AbortSignal): Promise<FolderRestoreResult> {
    return await this.#alone(signal, async (ended) => {
      if (this.#last === null) throw FilesystemError.invalid(this.folder, NOTHING_TAKEN);
      const { folder, copies, records: last } = this.#last;
      const now = this.#clock.now();
      const createTask = (stop: SharedArrayBuffer) =>
        ({ folder, copies, last, now, stop }) satisfies RestoreTask;
      const { records, result } = await inThread(restoreTreeJob, createTask, ended);
      this.#last = { folder, copies, records };
      return Object.freeze(result);
    });
  }

  /** Ends what is under way, and removes the copy; the folder stays as it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort(disposedOf(this.folder));
    await this.#lock.alone(async () => await this.#copies?.remove());
  }

  /** In its turn; who no longer waits for it is told at once. */
  async #alone<Result>(
    signal: AbortSignal | undefined,
    work: (ended: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const signals = [this.#disposal.signal, this.#signal, signal];
    const ended = AbortSignal.any(signals.filter((given) => given !== undefined));
    const turn = this.#lock.alone(async () => {
      ended.throwIfAborted();
      return await work(ended);
    });
    return await orAborted(turn, ended);
  }

  async #realFolder(): Promise<string> {
    try {
      return await realpath(this.folder);
    } catch (error) {
      throw takeError(error, this.folder);
    }
  }

  async #folderForCopies(real: string): Promise<string> {
    const temporary = await realpath(tmpdir()).catch(() => tmpdir());
    if (isWithin(real, temporary)) throw FilesystemError.invalid(this.folder, HOLDS_ITS_COPY);
    if (this.#copies === null) {
      const copies = reserveFolder();
      await copies.create();
      this.#copies = copies;
    }
    return this.#copies.files;
  }
}

/** What a checkpoint goes back to. */
interface Taken {
  readonly folder: string;
  readonly copies: string;
  readonly records: Uint8Array;
}

/** Tells the thread to stop on abort, so that it leaves nothing half done; does not wait for it. */
async function inThread<Task, Result>(
  job: ThreadJob<Task, Result>,
  createTask: (stop: SharedArrayBuffer) => Task,
  ended: AbortSignal,
): Promise<Result> {
  const stop = new StopFlag();
  const tell = () => stop.set();
  ended.addEventListener("abort", tell, { once: true });
  try {
    return await runInThread(job, createTask(stop.shared), ENDED_EARLY);
  } catch (error) {
    ended.throwIfAborted();
    throw error;
  } finally {
    ended.removeEventListener("abort", tell);
  }
}

const ENDED_EARLY = {
  job: "works on the checkpoint",
  remedy: "the checkpoint is still good, try again",
};
const NOTHING_TAKEN = "has no checkpoint to go back to: take one first";
const HOLDS_ITS_COPY =
  "holds the machine's temporary folder, where its copy would go: set TMPDIR to a folder outside it";

function disposedOf(folder: string): WinkError {
  return new WinkError(
    `The checkpoint of ${JSON.stringify(folder)} is disposed of: make a new one`,
  );
}
