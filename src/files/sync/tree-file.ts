import { constants, type Stats } from "node:fs";
import { chmod, chown, copyFile, lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { ignoreErrorCodes } from "../../host/to-filesystem-error.ts";
import { getParent } from "../path.ts";
import { SyncError } from "./sync-failure.ts";

/** A file of the source folder. */
export interface TreeFile {
  readonly real: string;
  readonly mode: number;
}

/** Creates a function that finds files in the source folder, whose real path is `from`. Does not follow symlinks. */
export function treeFileFinder(from: string): (path: string) => Promise<TreeFile> {
  const folders = new Map<string, Promise<boolean>>();
  const isFolder = (folder: string) => {
    const known = folders.get(folder) ?? isRealPath(join(from, folder));
    folders.set(folder, known);
    return known;
  };
  return async (path) => {
    const real = join(from, path);
    const stats = (await isFolder(getParent(path))) ? await lstat(real).catch(() => null) : null;
    if (stats?.isFile()) return { real, mode: stats.mode & 0o7777 };
    throw new SyncError("It is not a file in the source folder. Write it there first.");
  };
}

async function isRealPath(folder: string): Promise<boolean> {
  return await realpath(folder).then(
    (real) => real === folder,
    () => false,
  );
}

/**
 * Copies a source file to a new path. A new file keeps its mode. A file that replaces another gets the mode
 * and owner of the other one, and keeps only whether it is executable.
 */
export async function copyTreeFile(
  { real, mode }: TreeFile,
  target: string,
  before: Stats | null = null,
): Promise<void> {
  await copyFile(real, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  if (before && (before.uid !== process.geteuid?.() || before.gid !== process.getegid?.())) {
    // Only a privileged process may change the owner; otherwise the file belongs to this user.
    await ignoreErrorCodes(chown(target, before.uid, before.gid), "EPERM");
  }
  const wanted = before ? mergeModes(before.mode, mode) : mode & 0o777;
  if (wanted !== mode) await chmod(target, wanted);
}

/** Merges the modes. An executable file is executable by everyone who may read it. */
function mergeModes(before: number, mode: number): number {
  const kept = before & 0o777;
  const isExecutable = (mode & constants.S_IXUSR) !== 0;
  const wasExecutable = (before & constants.S_IXUSR) !== 0;
  if (isExecutable === wasExecutable) return kept;
  return isExecutable ? kept | ((kept & 0o444) >> 2) : kept & ~0o111;
}
