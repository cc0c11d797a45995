import { rmdirSync, unlinkSync } from "node:fs";
import { open, readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { createFolder } from "../host/create-folder.ts";
import {
  identifyCurrentProcess,
  isRunning,
  type ProcessIdentity,
} from "../host/process-identity.ts";
import { isMissing } from "./session-file-errors.ts";

/** The exclusive right to write a session's file. */
export interface SessionFileLock {
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
 * removed. That is safe, because file names are unique.
 */
export async function acquireLock(
  folder: string,
  clock: Clock,
): Promise<SessionFileLock | LockHolder> {
  const name = createLockName(identifyCurrentProcess());
  const lock = createLock(folder, name);
  await createLockFile(folder, name);
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

/** Returns the running processes that hold the lock, and removes the files of ended ones. */
export async function listLockHolders(folder: string): Promise<readonly LockHolder[]> {
  const holders: LockHolder[] = [];
  for (const name of await readdir(folder).catch(ignoreMissing<string[]>([]))) {
    const path = join(folder, name);
    const holder = parseLockName(name);
    if (!holder) continue;
    if (isRunning(holder)) holders.push({ ...holder, path });
    else await unlink(path).catch(ignoreMissing(undefined));
  }
  return holders;
}

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

function parseLockName(name: string): ProcessIdentity | null {
  const [, pid, started = "", host = ""] = /^(\d+)\.([\w-]+)\.[0-9a-f]{8}\.(.+)$/.exec(name) ?? [];
  return pid === undefined ? null : { pid: Number(pid), started, host };
}

async function createLockFile(folder: string, name: string): Promise<void> {
  for (;;) {
    await createFolder(folder);
    try {
      const file = await open(join(folder, name), "wx");
      await file.close();
      return;
    } catch (error) {
      if (!isMissing(error)) throw error; // otherwise the last holder has just removed the folder
    }
  }
}

function createLock(folder: string, name: string): SessionFileLock {
  return {
    async release() {
      await unlink(join(folder, name)).catch(ignoreMissing(undefined));
      await rmdir(folder).catch(() => {}); // other applicants may have files there
    },
    releaseNow() {
      try {
        unlinkSync(join(folder, name));
        rmdirSync(folder);
      } catch {
        // the next applicant sees that this process has ended
      }
    },
  };
}

/**
 * Returns an error handler that returns `value` for a missing file and rethrows any other error.
 */
function ignoreMissing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isMissing(error)) return value;
    throw error;
  };
}
