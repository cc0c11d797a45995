import { closeSync, fstatSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { getErrorCode, toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import type { TreeState } from "../tree-state.ts";
import { parseKeptTree } from "./kept-tree.ts";

/** The version of the format. */
export const MANIFEST_VERSION = 1;

/** Reads which files a folder keeps, or which were mounted. Returns `null` if it says neither. */
export function readKeptState(folder: string, which: "manifest" | "mounted"): TreeState | null {
  return readManifest(join(resolve(folder), `${which}.json`));
}

/** Reads the description of a tree. Returns `null` if there is none. Throws `FilesystemError` if it is not valid. */
export function readManifest(path: string): TreeState | null {
  let text: string;
  try {
    text = readRegularFile(path);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return null;
    throw toFilesystemErrorWithRemedy(error, path, REMEDY);
  }
  const parsed = parseJson(text);
  const value = parsed.ok && isPlainObject(parsed.value) ? parsed.value : {};
  const tree = value["version"] === MANIFEST_VERSION ? parseKeptTree(value) : null;
  if (tree) return tree;
  throw FilesystemError.invalid(path, `is not a valid manifest. D${REMEDY.slice(1)}.`);
}

const REMEDY = "delete its folder to start from the mounts again";
const MAX_BYTES = 256 * 2 ** 20;

/** Reads a regular file of a reasonable size. Returns `""` for any other. */
function readRegularFile(path: string): string {
  const file = openNoFollow(path);
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(file, "utf8") : "";
  } finally {
    closeSync(file);
  }
}
