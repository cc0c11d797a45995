import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isForeign } from "../host/is-foreign.ts";
import { PathRefusal } from "../host/path-refusal.ts";
import { getErrorCode } from "../host/to-filesystem-error.ts";

/**
 * How a session's file is opened: to read it, to read and shorten it, to append to it, or to overwrite it.
 * The last two create it.
 */
export type SessionFileAccess = "read" | "change" | "append" | "update";

/**
 * Opens one of a session's files. `it` names it in errors: leave it out for the file that errors name anyway. Never follows a symlink and never waits for the other end of a pipe. Throws
 * `PathRefusal` unless it is a regular file of this user, and for a file with several names that would be
 * changed. A file that is changed becomes private to its owner.
 */
export async function openSessionFile(
  path: string,
  access: SessionFileAccess,
  it = "it",
): Promise<FileHandle> {
  const file = await openItself(path, FLAGS[access], it);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new PathRefusal(`${it} is ${nameKind(stats)}, not a file`);
    if (await isForeign(path, stats)) {
      throw new PathRefusal(`${it} belongs to another user (uid ${stats.uid})`);
    }
    if (access !== "read") await checkChangeable(file, stats, it);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FLAGS: Readonly<Record<SessionFileAccess, number>> = {
  read: constants.O_RDONLY | SAFELY,
  change: constants.O_RDWR | SAFELY,
  append: constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | SAFELY,
  update: constants.O_RDWR | constants.O_CREAT | SAFELY,
};
const PRIVATE = 0o600;
const FOR_OTHERS = 0o077;

async function openItself(path: string, flags: number, it: string): Promise<FileHandle> {
  try {
    return await open(path, flags, PRIVATE);
  } catch (error) {
    const kind = KINDS_BY_CODE.get(getErrorCode(error) ?? "");
    throw kind === undefined ? error : new PathRefusal(`${it} is ${kind}, not a file`);
  }
}

/** Kinds of entries that the system refuses to open, by its error code. */
const KINDS_BY_CODE: ReadonlyMap<string, string> = new Map([
  ["EISDIR", "a folder"],
  ["ELOOP", "a symlink"],
  ["EMLINK", "a symlink"], // FreeBSD's code for it
  ["ENXIO", "a pipe, a socket or a device"],
]);

function nameKind(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  return stats.isFIFO() ? "a pipe" : "a device";
}

async function checkChangeable(
  file: FileHandle,
  { nlink, mode }: Stats,
  it: string,
): Promise<void> {
  if (nlink > 1) {
    const remedy = "Replace it with a separate copy, so that no other file changes with it.";
    throw new PathRefusal(`${it} has ${nlink} names (hard links)`, remedy);
  }
  if ((mode & FOR_OTHERS) === 0) return;
  await file.chmod(mode & 0o700).catch(() => {}); // some disks have no modes
}
