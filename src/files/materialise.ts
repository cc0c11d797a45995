import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { orAborted } from "../base/abort.ts";
import { WinkError } from "../base/errors.ts";
import type { CopyOrder } from "./copy-files.ts";
import { mountError } from "./mount-error.ts";
import type { MountPlan } from "./mount-plan.ts";
import { startWorker } from "./worker.ts";
import { fromFailure, type WorkerFailure } from "./worker-failure.ts";

/** The files of a plan in a temporary folder of their own; disposing of it removes the folder. */
export interface MaterialisedMounts extends AsyncDisposable {
  readonly directory: string;
}

/** What may end the copying. */
export interface MaterialiseOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies what was planned into a new temporary folder, off the event loop. Files keep their bytes
 * and whether their owner may execute them. When it fails or is aborted, nothing is left behind.
 *
 * Throws `FilesystemError` for a file that has changed since, is gone or may not be read,
 * `WorkspaceSecurityError` for one that has become a symlink, `WorkspaceBudgetExceededError` for a
 * mount over its limit, and the signal's reason.
 */
export async function materialise(
  { directories, files, limits }: MountPlan,
  { signal }: MaterialiseOptions = {},
): Promise<MaterialisedMounts> {
  signal?.throwIfAborted();
  const folder = await mkdtemp(join(tmpdir(), "wink-workspace-"));
  const remove = () => runInThread({ type: "remove", folder }).catch(() => removeHere(folder));
  try {
    await runInThread({ type: "copy", folder, order: { directories, files, limits } }, signal);
  } catch (error) {
    await remove().catch(() => {}); // why the copying failed matters more
    throw error;
  }
  return Object.freeze({ directory: folder, [Symbol.asyncDispose]: remove });
}

/** What the thread is asked to do: removing thousands of files holds the event loop up as well. */
export type MaterialiseTask =
  | { readonly type: "copy"; readonly folder: string; readonly order: CopyOrder }
  | { readonly type: "remove"; readonly folder: string };

/** Slower for everybody else, but it needs no thread: where none starts, nothing is left either. */
async function removeHere(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    throw mountError(error, folder, "remove this temporary folder by hand");
  }
}

async function runInThread(task: MaterialiseTask, signal?: AbortSignal): Promise<void> {
  const worker = startWorker("materialise-worker", task);
  try {
    const failure = await orAborted(outcomeOf(worker), signal);
    if (failure) throw fromFailure(failure);
  } finally {
    await worker.terminate(); // it writes nothing from here on
  }
}

function outcomeOf(worker: Worker): Promise<WorkerFailure | null> {
  const { promise, resolve, reject } = Promise.withResolvers<WorkerFailure | null>();
  worker.once("message", resolve);
  worker.once("error", (cause) => reject(endedEarly(cause)));
  worker.once("exit", (code) => reject(endedEarly(new Error(`Its exit code was ${code}`))));
  return promise;
}

function endedEarly(cause: unknown): WinkError {
  const problem = "The thread that copies the mounts ended before it was done";
  return new WinkError(`${problem}: the host's files are as they were, try again`, { cause });
}
