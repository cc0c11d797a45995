import { constants, type PathLike } from "node:fs";
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

/** The permissions and owner of a copy. */
export interface CopyOwnership {
  /** The permission bits. @default those of the source file, without setuid, setgid and sticky */
  readonly mode?: number | undefined;
  /** The owner. @default this user */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Copies a source file to a new path. */
export async function copyTreeFile(
  { real, mode }: TreeFile,
  target: PathLike,
  { mode: wanted = mode & 0o777, owner }: CopyOwnership = {},
): Promise<void> {
  await copyFile(real, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  if (owner && (owner.uid !== process.geteuid?.() || owner.gid !== process.getegid?.())) {
    // Only a privileged process may change the owner; otherwise the file belongs to this user.
    await ignoreErrorCodes(chown(target, owner.uid, owner.gid), "EPERM");
  }
  // The system's copy has the mode of the source. Chown clears some bits of it.
  if (wanted !== mode || owner) await chmod(target, wanted);
}
