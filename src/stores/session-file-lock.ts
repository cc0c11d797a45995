import { rmdirSync, unlinkSync } from "node:fs";
import { mkdir, open, readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { isRunning, type ProcessIdentity, thisProcess } from "../host/process-identity.ts";
import { isMissing } from "./session-file-errors.ts";

/** The right to write a session's file. */
export interface SessionFileLock {
  release(): Promise<void>;
  /** For the end of the process. */
  releaseNow(): void;
}

/** Who holds a lock, and the file that says so. */
export interface LockHolder extends ProcessIdentity {
  readonly path: string;
}

/**
 * Takes the lock, or says who has it. A lock is a folder with one file for each who wants it, named
 * after the process: each puts down its own file, then looks for others. Two at once see each
 * other, and the one whose name comes first stays. What a dead process left is removed, which harms
 * nobody, because no two files have one name.
 */
export async function takeLock(
  folder: string,
  clock: Clock,
): Promise<SessionFileLock | LockHolder> {
  const name = nameOf(thisProcess());
  const lock = lockAt(folder, name);
  await putDown(folder, name);
  for (let look = 1; ; look++) {
    const others = (await lockHolders(folder)).filter(({ path }) => path !== join(folder, name));
    const [first] = others;
    if (!first) return lock;
    const goesBefore = others.some(({ path }) => path < join(folder, name));
    if (goesBefore || look === MOST_LOOKS) {
      await lock.release();
      return first;
    }
    await clock.sleep(MS_BETWEEN_LOOKS);
  }
}

/** Whoever has the lock and still runs; removes the files of those who do not. */
export async function lockHolders(folder: string): Promise<readonly LockHolder[]> {
  const holders: LockHolder[] = [];
  for (const name of await readdir(folder).catch(ifThere<string[]>([]))) {
    const path = join(folder, name);
    const holder = holderOf(name);
    if (!holder) continue;
    if (isRunning(holder)) holders.push({ ...holder, path });
    else await unlink(path).catch(ifThere(undefined));
  }
  return holders;
}

/** How long one who may stay waits for the others to go, before it takes them for holders. */
const MOST_LOOKS = 20;
const MS_BETWEEN_LOOKS = 5;

function nameOf({ pid, started, host }: ProcessIdentity): string {
  const one = crypto.randomUUID().slice(0, 8);
  return `${pid}.${started}.${one}.${host}`;
}

function holderOf(name: string): ProcessIdentity | null {
  const [, pid, started = "", host = ""] = /^(\d+)\.([\w-]+)\.[0-9a-f]{8}\.(.+)$/.exec(name) ?? [];
  return pid === undefined ? null : { pid: Number(pid), started, host };
}

async function putDown(folder: string, name: string): Promise<void> {
  for (;;) {
    await mkdir(folder, { recursive: true });
    try {
      const file = await open(join(folder, name), "wx");
      await file.close();
      return;
    } catch (error) {
      if (!isMissing(error)) throw error; // else who held it last took the folder away just now
    }
  }
}

function lockAt(folder: string, name: string): SessionFileLock {
  return {
    async release() {
      await unlink(join(folder, name)).catch(ifThere(undefined));
      await rmdir(folder).catch(() => {}); // others may have theirs in it
    },
    releaseNow() {
      try {
        unlinkSync(join(folder, name));
        rmdirSync(folder);
      } catch {
        // whoever comes next sees that this process is gone
      }
    },
  };
}

/** Answers a file that is not there with `value`, and passes on any other failure. */
function ifThere<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isMissing(error)) return value;
    throw error;
  };
}
