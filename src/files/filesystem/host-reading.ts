import { constants, type Dirent } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createFilesystemError, FilesystemError } from "../../base/filesystem-error.ts";
import { normalizePath } from "../path.ts";
import { isWithin, type ResolvedPath, resolveHostPath } from "./resolve-host-path.ts";

/** A path inside the root that exists or can be created. */
export type InnerPath = Extract<ResolvedPath, { readonly kind: "found" | "missing" }>;

/** Resolves `at`, the normalized form of `path`. Throws if it leads out of `root` or is below a file. */
export async function resolveInside(root: string, path: string, at: string): Promise<InnerPath> {
  const place = await resolveHostPath(root, at);
  if (place.kind === "below-file") throw createFilesystemError(path, "below-file");
  if (place.kind === "outside") {
    const problem =
      "leads out of the root through a symlink. Use a path that stays inside the root.";
    throw new FilesystemError("EACCES", path, problem);
  }
  if (place.kind === "found" || isWithin(root, place.directory)) return place;
  throw new FilesystemError("ENOENT", path, "cannot be reached because the root was removed");
}

/** Returns the real path of an existing file or directory. Throws if it is missing. */
export async function findRealPath(root: string, path: string, at: string): Promise<string> {
  const place = await resolveInside(root, path, at);
  if (place.kind === "missing") throw createFilesystemError(path, "missing");
  return place.real;
}

/** Reads a file by its real path. Does not follow a symlink that has replaced the file. */
export async function readHostFile(path: string, real: string): Promise<Uint8Array> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants; // do not wait for the other end of a pipe
  const file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw createFilesystemError(path, "directory");
    if (!stats.isFile()) throw createNotRegularError(path);
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

/** Creates the error for a pipe, a socket or a device. */
export function createNotRegularError(path: string): FilesystemError {
  return FilesystemError.invalid(path, "is neither a file nor a directory");
}

/** Lists every file below the root, sorted. Includes symlinks to files, but does not enter symlinks to directories. */
export async function listFilesBelow(root: string): Promise<string[]> {
  const files: string[] = [];
  const directories = [""];
  for (const directory of directories) {
    for (const entry of await tryReadEntries(join(root, directory))) {
      const path = directory + entry.name;
      if (entry.isDirectory()) {
        if (isValidPath(`${path}/x`)) directories.push(`${path}/`);
      } else if (entry.isFile() || (entry.isSymbolicLink() && (await pointsToFile(root, path)))) {
        files.push(path);
      }
    }
  }
  return files.sort();
}

async function tryReadEntries(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch {
    return []; // removed or not readable
  }
}

/** Whether a path is valid. A file that is nested too deeply has no valid path. */
function isValidPath(path: string): boolean {
  try {
    return normalizePath(path) === path;
  } catch {
    return false;
  }
}

async function pointsToFile(root: string, path: string): Promise<boolean> {
  try {
    const place = await resolveHostPath(root, path);
    return place.kind === "found" && (await lstat(place.real)).isFile();
  } catch {
    return false; // no access
  }
}
