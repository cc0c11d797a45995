import { chmodSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { FilesystemError } from "../base/filesystem-error.ts";
import { runInThread } from "./threads/run-in-thread.ts";
import { threadJob } from "./threads/thread-job.ts";
import { getErrorCode, toFilesystemErrorWithRemedy } from "./to-filesystem-error.ts";

/** Removes a folder, or only its contents. */
export interface RemoveTask {
  readonly type: "remove" | "empty";
  readonly folder: string;
}

/** Name of the file that identifies a folder's owner. It is removed last. */
export const OWNER_FILE = "owner.json";

/**
 * Removes a folder created by this library, or its contents, synchronously; for use in a thread.
 * Folders without permissions are made accessible first. Returns `false` if another process removed
 * the folder first.
 */
export function removeTree({ type, folder }: RemoveTask): boolean {
  try {
    emptyTree(folder);
    if (type === "remove") rmdirSync(folder);
    return true;
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return false;
    throw toFilesystemErrorWithRemedy(error, folder, REMEDIES[type]);
  }
}

/** Runs {@link removeTree} in a thread. */
export const removeTreeJob = threadJob(import.meta.url, removeTree);

/** Removes a temporary folder in a thread. Returns `false` if it does not exist. */
export async function removeFolder(folder: string): Promise<boolean> {
  return await runRemoveTask({ type: "remove", folder });
}

/** Removes the contents of a folder in a thread. Keeps the folder. */
export async function emptyFolder(folder: string): Promise<void> {
  await runRemoveTask({ type: "empty", folder });
}

async function runRemoveTask(task: RemoveTask): Promise<boolean> {
  try {
    return await runInThread(removeTreeJob, task, {
      job: "removes a folder",
      remedy: "remove it again",
    });
  } catch (error) {
    if (error instanceof FilesystemError) throw error;
    // If no thread can run, block the event loop rather than leave files behind.
    return removeTree(task);
  }
}

const REMEDIES = {
  remove: "remove this temporary folder by hand",
  empty: "empty this folder by hand",
} as const;

function emptyTree(folder: string): void {
  try {
    removeEntries(folder);
  } catch (error) {
    if (getErrorCode(error) !== "EACCES") throw error;
    openFolders(folder);
    removeEntries(folder);
  }
}

function removeEntries(folder: string): void {
  const names = readdirSync(folder).filter((name) => name !== OWNER_FILE);
  for (const name of [...names, OWNER_FILE]) {
    rmSync(`${folder}/${name}`, { recursive: true, force: true });
  }
}

/** Makes folders accessible. Errors are ignored here, because the removal reports them. */
function openFolders(folder: string): void {
  try {
    chmodSync(folder, 0o700);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) openFolders(`${folder}/${entry.name}`);
    }
  } catch {}
}
