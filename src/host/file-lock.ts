import { type Dirent, rmdirSync, unlinkSync } from "node:fs";
import { type FileHandle, lstat, open, readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { createLockFolder, openLockFolder, useLockFolderSync } from "./lock-folder.ts";
import { identifyCurrentProcess, isRunning, type ProcessIdentity } from "./process-identity.ts";
import { getErrorCode } from "./to-filesystem-error.ts";

/** The exclusive right to use a file or a folder, among all processes of the machine. */
export interface FileLock {
  /** Returns whether the lock is still held: its file exists. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
  /** Releases the lock synchronously, when the process exits. */
  releaseNow(): void;
}

/** A process that holds a lock or applies for it, and its lock file. */
export interface LockHolder extends ProcessIdentity {
  readonly path: string;
  /** Whether the file has a note, which only the holder writes. Releases before 0.2.0 wrote none. */
  readonly hasNote: boolean;
}

/**
 * Acquires the lock, or returns its current holder. A lock is a folder in which each applicant
 * creates a file named after its process and then checks for other files. If two apply at once they
 * see each other, and the applicant whose name sorts first stays. Files of dead processes are
 * removed. That is safe, because file names are unique. The holder writes `note`, at least one
 * character, to its file.
 */
export async function acquireLock(
  folder: string,
  clock: Clock,
  note = "held",
): Promise<FileLock | LockHolder> {
  const name = createLockName(identifyCurrentProcess());
  const lock = createLock(folder, name);
  await using file = await createLockFile(folder, name);
  try {
    const other = await awaitTurn(folder, name, clock);
    if (!other) {
      await file.writeFile(note);
      return lock;
    }
    await lock.release();
    return await findHolder(folder, clock, other);
  } catch (error) {
    await lock.release().catch(() => {}); // the first error is the cause
    throw error;
  }
}

/**
 * Returns the running processes that hold the lock or apply for it, and removes the files of ended ones. Throws
 * `PathRefusal` if the lock is not a folder of this user, and changes nothing then.
 */
export async function listLockHolders(folder: string): Promise<readonly LockHolder[]> {
  const holders: LockHolder[] = [];
  try {
    await using opened = await openLockFolder(folder);
    for (const entry of await readdir(opened.path, { withFileTypes: true })) {
      const holder = parseLockFile(entry);
      if (!holder) continue;
      const path = join(opened.path, entry.name);
      if (!isRunning(holder)) await unlink(path).catch(ignoreMissing);
      else {
        const stats = await lstat(path).catch(ignoreMissing);
        if (stats)
          holders.push({ ...holder, path: join(folder, entry.name), hasNote: stats.size > 0 });
      }
    }
  } catch (error) {
    ignoreMissing(error);
  }
  return holders;
}

/**
 * How often and how long the first applicant waits for the others to leave before it treats them as
 * holders.
 */
const MAX_CHECKS = 20;
const MS_BETWEEN_CHECKS = 5;

/** How often an applicant creates the folder again after a holder that releases the lock has removed it. */
const MAX_CREATIONS = 1_000;

/** Waits until no other process is there, and returns `null`; or one that goes before. */
async function awaitTurn(folder: string, name: string, clock: Clock): Promise<LockHolder | null> {
  const own = join(folder, name);
  for (let look = 1; ; look++) {
    const others = (await listLockHolders(folder)).filter(({ path }) => path !== own);
    const [first] = others;
    if (!first) return null;
    if (look === MAX_CHECKS || others.some(({ path }) => path < own)) return first;
    await clock.sleep(MS_BETWEEN_CHECKS);
  }
}

/** Finds the holder. `other` may be an applicant that leaves too, so it waits briefly for a note. */
async function findHolder(folder: string, clock: Clock, other: LockHolder): Promise<LockHolder> {
  for (let look = 1; look <= 2 * MAX_CHECKS; look++) {
    const others = await listLockHolders(folder);
    const holder = others.find(({ hasNote }) => hasNote);
    if (holder) return holder;
    if (others.length === 0) return other; // it was released
    await clock.sleep(MS_BETWEEN_CHECKS);
  }
  return other;
}

function createLockName({ pid, started, host }: ProcessIdentity): string {
  const one = crypto.randomUUID().slice(0, 8);
  return `${pid}.${started}.${one}.${host}`;
}

/** Returns the process that a lock's file names, or `null` for any other entry. */
function parseLockFile(entry: Dirent): ProcessIdentity | null {
  const [, pid, started = "", host = ""] =
    /^(\d+)\.([\w-]+)\.[0-9a-f]{8}\.(.+)$/.exec(entry.name) ?? [];
  return pid === undefined || !entry.isFile() ? null : { pid: Number(pid), started, host };
}

async function createLockFile(folder: string, name: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    try {
      await using opened = await createLockFolder(folder);
      return await open(join(opened.path, name), "wx", 0o600);
    } catch (error) {
      if (attempt === MAX_CREATIONS) throw error;
      ignoreMissing(error); // the last holder has just removed the folder
    }
  }
}

function createLock(folder: string, name: string): FileLock {
  return {
    async isHeld() {
      return (await lstat(join(folder, name)).catch(() => null)) !== null;
    },
    async release() {
      await removeLockFile(folder, name).catch(ignoreMissing);
      await rmdir(folder).catch(() => {}); // other applicants may have files there
    },
    releaseNow() {
      try {
        useLockFolderSync(folder, (path) => unlinkSync(join(path, name)));
        rmdirSync(folder);
      } catch {
        // the next applicant sees that this process has ended
      }
    },
  };
}

async function removeLockFile(folder: string, name: string): Promise<void> {
  await using opened = await openLockFolder(folder);
  await unlink(join(opened.path, name));
}

/** Rethrows any error but that of a missing file. */
function ignoreMissing(error: unknown): void {
  if (getErrorCode(error) !== "ENOENT") throw error;
}
