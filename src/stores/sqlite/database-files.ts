import { chmodSync, closeSync, lstatSync, openSync, type Stats } from "node:fs";
import { isForeign } from "../../host/is-foreign.ts";
import { PathRefusal } from "../../host/path-refusal.ts";

/**
 * Creates the file of a database if it is missing, private to its owner. Never opens an existing one: closing it would
 * drop the locks that other connections of this process have on it.
 */
export function createDatabaseFile(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats)
    closeSync(openSync(path, "wx", PRIVATE)); // SQLite's other files get the mode of this one
  else if (stats.isFile() && (stats.mode & FOR_OTHERS) !== 0) chmodSync(path, stats.mode & 0o700);
}

/**
 * Throws `PathRefusal` unless the database and the files that SQLite keeps beside it are missing, or regular files of
 * this user.
 */
export async function checkDatabaseFiles(path: string): Promise<void> {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) {
    const stats = lstatSync(`${path}${suffix}`, { throwIfNoEntry: false });
    if (stats) await checkFile(`${path}${suffix}`, stats, suffix);
  }
}

/** Identifies the file at a path; `null` if there is none. */
export function identifyFile(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : null;
}

const PRIVATE = 0o600;
const FOR_OTHERS = 0o077;

async function checkFile(path: string, stats: Stats, suffix: string): Promise<void> {
  const it = suffix === "" ? "it" : `its file ${path}`;
  if (stats.isSymbolicLink()) throw new PathRefusal(`${it} is a symlink, not a file`);
  if (!stats.isFile()) throw new PathRefusal(`${it} is not a file`);
  if (await isForeign(path, stats)) {
    throw new PathRefusal(`${it} belongs to another user (uid ${stats.uid})`);
  }
  if (stats.nlink > 1) {
    const remedy = "Replace it with a separate copy, so that no other file changes with it.";
    throw new PathRefusal(`${it} has ${stats.nlink} names (hard links)`, remedy);
  }
}
