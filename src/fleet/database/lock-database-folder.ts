import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { acquireLock, type FileLock } from "../../host/file-lock.ts";
import { FleetError } from "../fleet-error.ts";

/** The exclusive right to use the folder of a database. */
export type FolderLock = Pick<FileLock, "release">;

/**
 * Locks the folder of a database until the lock is released or the process exits. Throws `FleetError` with the holder if
 * it is locked: PGlite itself lets two processes open one folder, and their changes diverge.
 */
export async function lockDatabaseFolder(folder: string): Promise<FolderLock> {
  const taken = await tryLock(folder);
  if ("release" in taken) return releaseOnExit(taken);
  const { pid, host } = taken;
  const holder =
    pid === process.pid
      ? `this process (pid ${pid})`
      : `process ${pid} on ${decodeURIComponent(host)}`;
  throw new FleetError(
    `The fleet in ${folder} is open in ${holder}. Close it there first, or use PostgreSQL for several processes.`,
  );
}

async function tryLock(folder: string): ReturnType<typeof acquireLock> {
  try {
    return await acquireLock(join(folder, "lock"), systemClock);
  } catch (cause) {
    throw new FleetError(
      `The folder ${folder} cannot be locked: ${getErrorMessage(cause)}. Use a folder that this user can write to.`,
      { cause },
    );
  }
}

function releaseOnExit(lock: FileLock): FolderLock {
  const releaseNow = () => lock.releaseNow();
  process.on("exit", releaseNow);
  return {
    async release() {
      process.off("exit", releaseNow);
      await lock.release();
    },
  };
}
