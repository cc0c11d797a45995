import { randomUUID } from "node:crypto";
import { type BigIntStats, constants, linkSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import type { PinnedFolder } from "../../host/pinned-folder.ts";
import { getErrorCode, ignoreErrorCodes } from "../../host/to-filesystem-error.ts";
import { type HostEntry, isStill } from "./host-entry.ts";
import { type CopyOwnership, copyTreeFile, type TreeFile } from "./tree-file.ts";

/** The entry that a file replaces. */
export interface Replaced {
  readonly folder: PinnedFolder;
  readonly name: string;
  readonly entry: HostEntry;
  /** Whether to leave the entry alone if it is no longer as it was inspected. */
  readonly isGuarded: boolean;
}

/**
 * Copies a file to a temporary name and moves it into place. Returns `false`, and changes nothing, if the entry
 * is no longer as it was inspected.
 */
export async function placeFile(
  file: TreeFile,
  ownership: CopyOwnership,
  { folder, name, entry, isGuarded }: Replaced,
): Promise<boolean> {
  const temporary = folder.toPath(`.wink-${randomUUID()}.tmp`);
  const target = folder.toPath(name);
  let isMoved = false;
  try {
    await copyTreeFile(file, temporary, ownership);
    if (isGuarded && entry.kind === "missing" && tryLink(temporary, target)) return true;
    // Nothing runs between the check and the move, so only a write within microseconds could be lost.
    if (isGuarded && !isStill(folder, name, entry)) return false;
    renameSync(temporary, target);
    isMoved = true;
    return true;
  } finally {
    if (!isMoved) rmSync(temporary, { force: true });
  }
}

/** Sets the permissions of a file. Does not follow a symlink. */
export async function adjustMode(folder: PinnedFolder, name: string, mode: number): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(folder.toPath(name), flags);
  try {
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

/** Throws if a file is not writable. Replacing it would only need permission on its folder. */
export async function checkWritable(
  folder: PinnedFolder,
  name: string,
  { uid, mode }: BigIntStats,
): Promise<void> {
  const isOwn = Number(uid) === process.geteuid?.();
  if (isOwn && (Number(mode) & constants.S_IWUSR) !== 0) return;
  const opening = open(folder.toPath(name), constants.O_WRONLY | constants.O_NOFOLLOW);
  await ignoreErrorCodes(
    opening.then((file) => file.close()),
    "ETXTBSY", // a running program is not affected when its file is replaced
  );
}

/**
 * Gives a file a second name. Returns `false` if another process has created that one in the meantime, or if the
 * disk has no hard links.
 */
function tryLink(from: Buffer, to: Buffer): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (LINK_REFUSED_CODES.has(getErrorCode(error))) return false;
    throw error;
  }
}

const LINK_REFUSED_CODES = new Set<string | undefined>([
  "EEXIST",
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
]);
