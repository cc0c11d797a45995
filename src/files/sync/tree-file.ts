import { constants, type Stats } from "node:fs";
import { chmod, chown, copyFile, lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { unless } from "../../host/host-error.ts";
import { parentOf } from "../path.ts";
import { SyncRefusal } from "./sync-reason.ts";

/** A file of the tree that is brought back. */
export interface TreeFile {
  readonly real: string;
  readonly mode: number;
}

/** Finds the files of a tree, of which `from` is the real path; links in it are not followed. */
export function treeFiles(from: string): (path: string) => Promise<TreeFile> {
  const folders = new Map<string, Promise<boolean>>();
  const isFolder = (folder: string) => {
    const known = folders.get(folder) ?? isReal(join(from, folder));
    folders.set(folder, known);
    return known;
  };
  return async (path) => {
    const real = join(from, path);
    const stats = (await isFolder(parentOf(path))) ? await lstat(real).catch(() => null) : null;
    if (stats?.isFile()) return { real, mode: stats.mode & 0o7777 };
    throw new SyncRefusal(
      "it is not a file in the tree that is brought back: write it there first",
    );
  };
}

async function isReal(folder: string): Promise<boolean> {
  return await realpath(folder).then(
    (real) => real === folder,
    () => false,
  );
}

/**
 * Copies a file of the tree to where nothing is yet. It keeps its mode; what replaces another file
 * gets that one's mode and owner, and only whether it may be executed is its own.
 */
export async function copyTreeFile(
  { real, mode }: TreeFile,
  target: string,
  before: Stats | null = null,
): Promise<void> {
  await copyFile(real, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  if (before && (before.uid !== process.geteuid?.() || before.gid !== process.getegid?.())) {
    // Only a privileged process may give files away; for others the file becomes theirs.
    await unless(chown(target, before.uid, before.gid), "EPERM");
  }
  const wanted = before ? modeAfter(before.mode, mode) : mode & 0o777;
  if (wanted !== mode) await chmod(target, wanted);
}

/** Whoever may read what may be executed may execute it too. */
function modeAfter(before: number, mode: number): number {
  const kept = before & 0o777;
  const isExecutable = (mode & constants.S_IXUSR) !== 0;
  const wasExecutable = (before & constants.S_IXUSR) !== 0;
  if (isExecutable === wasExecutable) return kept;
  return isExecutable ? kept | ((kept & 0o444) >> 2) : kept & ~0o111;
}
