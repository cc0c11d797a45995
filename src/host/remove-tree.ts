import { chmodSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { hostCode } from "./host-error.ts";
import { mountError } from "./mount-error.ts";
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
