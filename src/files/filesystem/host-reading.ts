import { constants, type Dirent } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { FilesystemError, refuse } from "../../base/filesystem-error.ts";
import { checkedPath } from "../path.ts";
import { isWithin, locate, type Place } from "./host-place.ts";

/** Where something is, or may be made. */
export type OpenPlace = Extract<Place, { readonly kind: "found" | "missing" }>;

/** Follows `at`, the checked form of `path`; refuses what leads out of `root` or below a file. */
export async function openPlace(root: string, path: string, at: string): Promise<OpenPlace> {
  const place = await locate(root, at);
  if (place.kind === "below-file") throw refuse(path, "below-file");
  if (place.kind === "outside") {
    const problem = "leads out of the root through a symlink: only links that stay in are followed";
    throw new FilesystemError("EACCES", path, problem);
  }
  if (place.kind === "found" || isWithin(root, place.directory)) return place;
  throw new FilesystemError("ENOENT", path, "cannot be reached: the root is gone");
}

/** The real path of what is at `at`. */
export async function realPathOf(root: string, path: string, at: string): Promise<string> {
  const place = await openPlace(root, path, at);
  if (place.kind === "missing") throw refuse(path, "missing");
  return place.real;
}

/** The bytes of a file by its real path; a link that took its place meanwhile is not followed. */
export async function readWhole(path: string, real: string): Promise<Uint8Array> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants; // not to wait for a pipe's other end
  const file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw refuse(path, "directory");
    if (!stats.isFile()) throw notRegular(path);
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

/** A pipe, a socket or a device. */
export function notRegular(path: string): FilesystemError {
  return FilesystemError.invalid(path, "is neither a file nor a directory");
}

/** Every file below the root, sorted. Links to files count as files; links to directories do not. */
export async function filesBelow(root: string): Promise<string[]> {
  const files: string[] = [];
  const directories = [""];
  for (const directory of directories) {
    for (const entry of await entriesOf(join(root, directory))) {
      const path = directory + entry.name;
      if (entry.isDirectory()) {
        if (canBeNamed(`${path}/x`)) directories.push(`${path}/`);
      } else if (entry.isFile() || (entry.isSymbolicLink() && (await leadsToFile(root, path)))) {
        files.push(path);
      }
    }
  }
  return files.sort();
}

async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch {
    return []; // gone, or not to be seen: nothing to find in it
  }
}

/** What is nested too deeply has no path by which it could be read. */
function canBeNamed(path: string): boolean {
  try {
    return checkedPath(path) === path;
  } catch {
    return false;
  }
}

async function leadsToFile(root: string, path: string): Promise<boolean> {
  try {
    const place = await locate(root, path);
    return place.kind === "found" && (await lstat(place.real)).isFile();
  } catch {
    return false; // not to be seen
  }
}
