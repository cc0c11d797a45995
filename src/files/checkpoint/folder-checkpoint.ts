import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { type Clock, raceAbort, systemClock } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import { reserveFolder, type TemporaryFolder } from "../../host/temporary-folder.ts";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import type { ThreadJob } from "../../host/threads/thread-job.ts";
import { isWithin } from "../filesystem/resolve-host-path.ts";
import { type CaptureTask, captureTreeJob } from "./capture-tree.ts";
import { toCheckpointError } from "./checkpoint-errors.ts";
import type { FolderRestoreResult } from "./restore-report.ts";
import { type RestoreTask, restoreTreeJob } from "./restore-tree.ts";
import { StopFlag } from "./stop-flag.ts";

/** Options of a {@link FolderCheckpoint}. */
export interface FolderCheckpointOptions {
  /** Aborts every operation of the checkpoint. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Determines which files were changed too recently to be identified by their times; these are compared byte by
   * byte. A clock ahead of the system time would miss changes. @default the system clock
   */
  readonly clock?: Clock | undefined;
}

/**
 * Stores a copy of a folder, so that changes by any process can be undone.
 *
 * Restores bytes, permissions, owners (if this user may change them), empty folders and symlinks. Does not restore
 * times, access control lists and hard links: a restored file is a new file. Never follows symlinks and never
 * opens pipes, sockets or devices. A thread does the work, one call at a time.
 */
export class FolderCheckpoint implements AsyncDisposable {
  /** The absolute path of the folder. */
  readonly folder: string;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  readonly #lock = new SharedLock();
  readonly #disposal = new AbortController();
  #copies: TemporaryFolder | null = null;
  #last: CapturedFolder | null = null;
  #attempts = 0;

  /** Creates a checkpoint. Reads and copies nothing until {@link FolderCheckpoint.take}. */
  constructor(folder: string, { signal, clock = systemClock }: FolderCheckpointOptions = {}) {
    this.folder = resolve(folder);
    this.#signal = signal;
    this.#clock = clock;
  }

  /**
   * Captures the current state of the folder and replaces the previous capture. The first call copies all files
   * (as reflinks, if the disk supports them); later calls copy only changed files. A file that is written to
   * continuously is captured with the bytes of the last read.
   *
   * Throws `FilesystemError` if a file cannot be read or copied, and the signal's reason. The previous capture
   * then remains valid.
   */
  async take(signal?: AbortSignal): Promise<void> {
    await this.#runExclusive(signal, async (ended) => {
      const folder = await this.#resolveFolder();
      const copies = await this.#createCopiesFolder(folder);
      const last = this.#last?.records ?? null;
      const now = this.#clock.now();
      this.#attempts += 1;
      const attempt = this.#attempts;
      const createTask = (stop: SharedArrayBuffer) =>
        ({ folder, copies, last, attempt, now, stop }) satisfies CaptureTask;
      const records = await runStoppable(captureTreeJob, createTask, ended);
      ended.throwIfAborted();
      this.#last = { folder, copies, records };
    });
  }

  /**
   * Restores the folder to the captured state. Can be repeated. Each file is replaced atomically. The result lists
   * failures, which do not stop the restore.
   *
   * Throws `FilesystemError` without a capture or without a parent folder, and the signal's reason.
   * Some files may already be restored, and the capture remains valid.
   */
  async restore(signal?: AbortSignal): Promise<FolderRestoreResult> {
    return await this.#runExclusive(signal, async (ended) => {
      if (this.#last === null) throw FilesystemError.invalid(this.folder, NOTHING_TAKEN);
      const { folder, copies, records: last } = this.#last;
      const now = this.#clock.now();
      const createTask = (stop: SharedArrayBuffer) =>
        ({ folder, copies, last, now, stop }) satisfies RestoreTask;
      const { records, result } = await runStoppable(restoreTreeJob, createTask, ended);
      this.#last = { folder, copies, records };
      return Object.freeze(result);
    });
  }

  /** Stops the running operation and removes the copies. Does not change the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort(createDisposedError(this.folder));
    await this.#lock.runExclusive(async () => await this.#copies?.remove());
  }

  /** Runs `work` after earlier operations. On abort, rejects immediately without waiting for its turn. */
  async #runExclusive<Result>(
    signal: AbortSignal | undefined,
    work: (ended: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const signals = [this.#disposal.signal, this.#signal, signal];
    const ended = AbortSignal.any(signals.filter((given) => given !== undefined));
    const turn = this.#lock.runExclusive(async () => {
      ended.throwIfAborted();
      return await work(ended);
    });
    return await raceAbort(turn, ended);
  }

  async #resolveFolder(): Promise<string> {
    try {
      return await realpath(this.folder);
    } catch (error) {
      throw toCheckpointError(error, this.folder);
    }
  }

  async #createCopiesFolder(real: string): Promise<string> {
    const temporary = await realpath(tmpdir()).catch(() => tmpdir());
    if (isWithin(real, temporary)) throw FilesystemError.invalid(this.folder, CONTAINS_TEMP_FOLDER);
    if (this.#copies === null) {
      const copies = reserveFolder();
      await copies.create();
      this.#copies = copies;
    }
    return this.#copies.files;
  }
}

/** The captured state of a folder. */
interface CapturedFolder {
  readonly folder: string;
  readonly copies: string;
  readonly records: Uint8Array;
}

/** Runs a job in a thread. On abort, asks the thread to stop at a safe point. */
async function runStoppable<Task, Result>(
  job: ThreadJob<Task, Result>,
  createTask: (stop: SharedArrayBuffer) => Task,
  abortSignal: AbortSignal,
): Promise<Result> {
  const stop = new StopFlag();
  const requestStop = () => stop.set();
  abortSignal.addEventListener("abort", requestStop, { once: true });
  try {
    return await runInThread(job, createTask(stop.shared), THREAD_OPTIONS);
  } catch (error) {
    abortSignal.throwIfAborted();
    throw error;
  } finally {
    abortSignal.removeEventListener("abort", requestStop);
  }
}

const THREAD_OPTIONS = {
  job: "works on the checkpoint",
  remedy: "try again; the checkpoint is still valid",
};
const NOTHING_TAKEN = "has no checkpoint to restore. Take one first.";
const CONTAINS_TEMP_FOLDER =
  "contains the system's temporary folder, where its copy would be stored. Set TMPDIR to a folder outside it.";

function createDisposedError(folder: string): WinkError {
  return new WinkError(
    `The checkpoint of ${JSON.stringify(folder)} was disposed. Create a new one.`,
  );
}
