import { closeSync, constants, fstatSync, type PathLike } from "node:fs";
import { chmod, chown, copyFile, lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { pinBelow, toDescriptorPath, toPinnedName } from "../../host/pinned-folder.ts";
import { ignoreErrorCodes } from "../../host/to-filesystem-error.ts";
import { getParent } from "../path.ts";
import { SyncError } from "./sync-failure.ts";

/** A file of the source folder. */
export interface TreeFile {
  /** The source folder. */
  readonly root: string;
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
    if (stats?.isFile()) return { root: from, real, mode: stats.mode & 0o7777 };
    throw new SyncError(NOT_A_FILE);
  };
}

const NOT_A_FILE = "It is not a file in the source folder. Write it there first.";

async function isRealPath(folder: string): Promise<boolean> {
  return await realpath(folder).then(
    (real) => real === folder,
    () => false,
  );
}

/** The permissions and owner of a copy. */
export interface CopyOwnership {
  /** The permission bits. @default the source file's bits, without setuid, setgid and sticky */
  readonly mode?: number | undefined;
  /** The owner. @default this user */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Copies a source file to a new path. Does not follow a symlink that has replaced the file or a folder above it. */
export async function copyTreeFile(
  { root, real, mode }: TreeFile,
  target: PathLike,
  { mode: wanted = mode & 0o777, owner }: CopyOwnership = {},
): Promise<void> {
  using folder = pinBelow(root, dirname(real));
  const source = folder.toPath(toPinnedName(basename(real)));
  const descriptor = openNoFollow(source);
  try {
    if (!fstatSync(descriptor).isFile()) throw new SyncError(NOT_A_FILE);
    const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    await copyFile(toDescriptorPath(descriptor, source), target, flags);
  } finally {
    closeSync(descriptor);
  }
  if (owner && (owner.uid !== process.geteuid?.() || owner.gid !== process.getegid?.())) {
    // Only a privileged process may change the owner; otherwise the file belongs to this user.
    await ignoreErrorCodes(chown(target, owner.uid, owner.gid), "EPERM");
  }
  // The system's copy has the mode of the source. Chown clears some bits of it.
  if (wanted !== mode || owner) await chmod(target, wanted);
}
