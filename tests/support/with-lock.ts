import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Runs `work` while no other process packs this repository or builds its `dist`. */
export function withPackLock<T>(root: string, work: () => Promise<T>): Promise<T> {
  return withLock(join(root, "node_modules", ".wink-pack.lock"), work);
}

/**
 * Runs `work` while no other process runs work with the same lock file. The file contains the id of the process
 * that holds the lock; if that process has ended, the lock is free.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!(await tryLock(path))) await setTimeout(100);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}`, { flag: "wx" });
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const holder = Number(await readFile(path, "utf8").catch(() => "0"));
  if (holder > 0 && !isRunning(holder)) await rm(path, { force: true });
  return false;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
