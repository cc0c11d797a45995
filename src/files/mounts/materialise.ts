import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { mountError } from "../../host/mount-error.ts";
import { emptyFolder, removeFolder } from "../../host/remove-folder.ts";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import { type CopyTask, copyFilesJob } from "./copy-files.ts";
import type { MountPlan } from "./planned-mounts.ts";

/**
 * The files of a plan in a folder of this machine. Disposing of them removes the folder, or, where
 * it was given as `into`, everything in it.
 */
export interface MaterialisedMounts extends AsyncDisposable {
  readonly directory: string;
}

/** Where the files go, and what may end the copying. */
export interface MaterialiseOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * An empty folder that is there already and stays its owner's: when the copying fails, or the
   * mounts are disposed of, it is emptied but not removed. @default a new temporary folder
   */
  readonly into?: string | undefined;
}

/**
 * Copies what was planned into a folder, off the event loop. Files keep their bytes and whether
 * their owner may execute them. When it fails or is aborted, nothing is left behind.
 *
 * Throws `FilesystemError` for a file that has changed since, is gone or may not be read and for an
 * `into` that is not an empty folder, `WorkspaceSecurityError` for a file that has become a symlink,
 * `WorkspaceBudgetExceededError` for a mount over its limit, and the signal's reason.
 */
export async function materialise(
  { directories, files, limits }: MountPlan,
  { signal, into }: MaterialiseOptions = {},
): Promise<MaterialisedMounts> {
  signal?.throwIfAborted();
  const target = into === undefined ? await temporaryFolder() : await givenFolder(into);
  const task: CopyTask = { folder: target.folder, order: { directories, files, limits } };
  try {
    await runInThread(copyFilesJob, task, {
      signal,
      job: "copies the mounts",
      remedy: "the host's files are as they were, try again",
    });
  } catch (error) {
    await target.clear().catch(() => {}); // why the copying failed matters more
    throw error;
  }
  return Object.freeze({ directory: target.folder, [Symbol.asyncDispose]: target.clear });
}

interface Target {
  readonly folder: string;
  /** Takes away what was copied. */
  clear(): Promise<void>;
}

async function temporaryFolder(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), "wink-workspace-"));
  return { folder, clear: async () => void (await removeFolder(folder)) };
}

async function givenFolder(folder: string): Promise<Target> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw mountError(error, folder, NEEDS_EMPTY_FOLDER);
  });
  if (names.length > 0) {
    throw new FilesystemError("EEXIST", folder, `is not empty: ${NEEDS_EMPTY_FOLDER}`);
  }
  return { folder, clear: () => emptyFolder(folder) };
}

const NEEDS_EMPTY_FOLDER = "mounts are copied into a new folder, or one that is there and empty";
