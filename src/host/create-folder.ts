import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { getErrorCode } from "./to-filesystem-error.ts";

/**
 * Creates a folder and its missing parents. Returns the first folder that it created, or `undefined` if all
 * existed. Node's `recursive` option never returns where the system reports an existing parent as missing, as
 * below `/proc`; this function throws there.
 */
export async function createFolder(path: string, mode = 0o777): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    if (getErrorCode(error) === "EEXIST" && (await isFolder(path))) return undefined;
    const parent = dirname(path);
    if (getErrorCode(error) !== "ENOENT" || parent === path) throw error;
    const first = await createFolder(parent, mode);
    await mkdir(path, { mode }).catch(ignoreExisting); // only once more: the parent exists now
    return first ?? path;
  }
}

/** Creates a folder and its missing parents like {@link createFolder}, synchronously. */
export function createFolderSync(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (getErrorCode(error) === "EEXIST" && statSync(path).isDirectory()) return;
    const parent = dirname(path);
    if (getErrorCode(error) !== "ENOENT" || parent === path) throw error;
    createFolderSync(parent, mode);
    try {
      mkdirSync(path, { mode }); // only once more: the parent exists now
    } catch (again) {
      ignoreExisting(again);
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path)).isDirectory();
}

/** Another process may create the same folder at the same time. */
function ignoreExisting(error: unknown): void {
  if (getErrorCode(error) !== "EEXIST") throw error;
}
