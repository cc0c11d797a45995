import { Buffer } from "node:buffer";
import { constants, type Dirent, rmdirSync, unlinkSync } from "node:fs";
import { lstat, open, readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import {
  identifyCurrentProcess,
  isRunning,
  type ProcessIdentity,
} from "../host/process-identity.ts";
import { describeProcess, isOwner } from "./claim-owner.ts";
import { createLockFolder, openLockFolder, useLockFolderSync } from "./lock-folder.ts";
import { isMissing, type SessionHolder } from "./session-file-errors.ts";

/** The exclusive right to write a session's file. */
export interface SessionFileLock {
  /** Returns whether the lock is still held: its file exists. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
  /** Releases the lock synchronously, when the process exits. */
  releaseNow(): void;
}

/** The process that holds a lock, and its lock file. */
export interface LockHolder extends ProcessIdentity {
  readonly path: string;
}

/**
 * Acquires the lock, or returns its current holder. A lock is a folder in which each applicant
 * creates a file named after its process and then checks for other files. If two apply at once they
 * see each other, and the applicant whose name sorts first stays. Files of dead processes are
 * removed. That is safe, because file names are unique. The file describes the holder to others.
 */
export async function acquireLock(
  folder: string,
  clock: Clock,
  holder?: SessionHolder,
): Promise<SessionFileLock | LockHolder> {
  const name = createLockName(identifyCurrentProcess());
  const lock = createLock(folder, name);
  await createLockFile(folder, name, holder ? JSON.stringify(holder) : "");
  for (let look = 1; ; look++) {
    const others = (await listLockHolders(folder)).filter(
      ({ path }) => path !== join(folder, name),
    );
    const [first] = others;
    if (!first) return lock;
    const goesBefore = others.some(({ path }) => path < join(folder, name));
    if (goesBefore || look === MAX_CHECKS) {
      await lock.release();
      return first;
    }
    await clock.sleep(MS_BETWEEN_CHECKS);
  }
}

/**
 * Returns the running processes that hold the lock, and removes the files of ended ones. Throws `PathRefusal` if
 * the lock is not a folder of this user, and changes nothing then.
 */
export async function listLockHolders(folder: string): Promise<readonly LockHolder[]> {
  const holders: LockHolder[] = [];
  try {
    await using opened = await openLockFolder(folder);
    for (const entry of await readdir(opened.path, { withFileTypes: true })) {
      const holder = parseLockFile(entry);
      if (!holder) continue;
      if (isRunning(holder)) holders.push({ ...holder, path: join(folder, entry.name) });
      else await unlink(join(opened.path, entry.name)).catch(ignoreMissing);
    }
  } catch (error) {
    ignoreMissing(error);
  }
  return holders;
}

/** Describes a lock's holder from its file's content, or else from its name and time. */
export async function readHolder({ path, pid, host }: LockHolder): Promise<SessionHolder> {
  let since = new Date(0).toISOString();
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    since = (await file.stat()).mtime.toISOString();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_NOTE_BYTES));
    const note = parseJson(buffer.toString("utf8", 0, bytesRead));
    const { owner, since: noted } = note.ok && isPlainObject(note.value) ? note.value : {};
    if (isOwner(owner) && isTime(noted)) return { owner, since: noted, path };
  } catch {
    // It has just been released, or it was written by an earlier release.
  }
  return { owner: describeProcess(pid, decodeURIComponent(host)), since, path };
}

function isTime(text: unknown): text is string {
  return typeof text === "string" && /^[\dTZ:.-]{1,30}$/.test(text);
}

const MAX_NOTE_BYTES = 4096;

/**
 * How often and how long the first applicant waits for the others to leave before it treats them as
 * holders.
 */
const MAX_CHECKS = 20;
const MS_BETWEEN_CHECKS = 5;

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

async function createLockFile(folder: string, name: string, note: string): Promise<void> {
  for (;;) {
    await using opened = await createLockFolder(folder);
    try {
      await using file = await open(join(opened.path, name), "wx", 0o600);
      await file.writeFile(note);
      return;
    } catch (error) {
      ignoreMissing(error); // the last holder has just removed the folder
    }
  }
}

function createLock(folder: string, name: string): SessionFileLock {
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
  if (!isMissing(error)) throw error;
}
