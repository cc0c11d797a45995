import { chmodSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { FilesystemError } from "../base/filesystem-error.ts";
import { hostCode, mountError } from "./host-error.ts";
import { runInThread } from "./threads/run-in-thread.ts";
import { threadJob } from "./threads/thread-job.ts";

/** What is to go: a folder, or only what is in it. */
export interface RemoveTask {
  readonly type: "remove" | "empty";
  readonly folder: string;
}

/** As long as this file is in a folder, whoever finds it knows whose it is: so it goes last. */
export const OWNER_FILE = "owner.json";

/**
 * Removes a folder of ours or what is in it, synchronously: for a thread. Folders that even their
 * owner may not enter or change are opened first. Others may be removing it too: `false` says that
 * they were the ones who did.
 */
export function removeTree({ type, folder }: RemoveTask): boolean {
  try {
    emptyTree(folder);
    if (type === "remove") rmdirSync(folder);
    return true;
  } catch (error) {
    if (hostCode(error) === "ENOENT") return false;
    throw mountError(error, folder, REMEDIES[type]);
  }
}

/** Runs `removeTree` in a thread. */
export const removeTreeJob = threadJob(import.meta.url, removeTree);

/** Removes a temporary folder off the event loop; `false` if it is gone already. */
export async function removeFolder(folder: string): Promise<boolean> {
  return await carryOut({ type: "remove", folder });
}

/** Removes what is in a folder off the event loop; the folder stays. */
export async function emptyFolder(folder: string): Promise<void> {
  await carryOut({ type: "empty", folder });
}

async function carryOut(task: RemoveTask): Promise<boolean> {
  try {
    return await runInThread(removeTreeJob, task, {
      job: "removes a folder",
      remedy: "remove it again",
    });
  } catch (error) {
    if (error instanceof FilesystemError) throw error;
    return removeTree(task); // everybody waits, but where no thread starts nothing is left either
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
    if (hostCode(error) !== "EACCES") throw error;
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

/** What cannot be opened is met again when it is to be removed, and reported then. */
function openFolders(folder: string): void {
  try {
    chmodSync(folder, 0o700);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) openFolders(`${folder}/${entry.name}`);
    }
  } catch {}
}
