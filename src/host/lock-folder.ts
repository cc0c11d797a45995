import { closeSync, constants, existsSync, openSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { createFolder } from "./create-folder.ts";
import { isForeign } from "./is-foreign.ts";
import { PathRefusal } from "./path-refusal.ts";
import { getErrorCode } from "./to-filesystem-error.ts";

/** A lock's folder, held open so that replacing it with a symlink has no effect. */
export interface LockFolder extends AsyncDisposable {
  /** A path to the folder, valid until it is disposed. */
  readonly path: string;
}

/** Creates a lock's folder and its missing parents, which are private, and opens it. */
export async function createLockFolder(folder: string): Promise<LockFolder> {
  await createFolder(dirname(folder), PRIVATE);
  await mkdir(folder, { mode: PRIVATE }).catch((error: unknown) => {
    if (getErrorCode(error) !== "EEXIST") throw error;
  });
  return await openLockFolder(folder);
}

/** Opens a lock's folder. Throws `PathRefusal` if it is a symlink, a file, or a folder of another user. */
export async function openLockFolder(folder: string): Promise<LockFolder> {
  const handle = await openItself(folder);
  try {
    const stats = await handle.stat();
    if (await isForeign(folder, stats)) {
      throw new PathRefusal(`its lock ${folder} belongs to another user (uid ${stats.uid})`);
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { path: toPath(handle.fd, folder), [Symbol.asyncDispose]: () => handle.close() };
}

/** Calls `use` with a path to a lock's folder, synchronously. Throws if the folder is a symlink. */
export function useLockFolderSync(folder: string, use: (path: string) => void): void {
  const descriptor = openSync(folder, FLAGS);
  try {
    use(toPath(descriptor, folder));
  } finally {
    closeSync(descriptor);
  }
}

const PRIVATE = 0o700;
const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const HAS_PROC_DESCRIPTORS = process.platform === "linux" && existsSync("/proc/self/fd");

async function openItself(folder: string): Promise<FileHandle> {
  try {
    return await open(folder, FLAGS);
  } catch (error) {
    const code = getErrorCode(error);
    if (code !== "ENOTDIR" && code !== "ELOOP" && code !== "EMLINK") throw error;
    throw new PathRefusal(`its lock ${folder} is a symlink or a file, not a folder`);
  }
}

function toPath(descriptor: number, folder: string): string {
  return HAS_PROC_DESCRIPTORS ? `/proc/self/fd/${descriptor}` : folder;
}
