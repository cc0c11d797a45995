import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { getErrorCode, toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import type { TreeState } from "../tree-state.ts";
import { syncFile, TEMPORARY_PREFIX } from "./blob-writer.ts";
import { parseKeptTree, toKeptTree } from "./kept-tree.ts";

/** Replaces a file with the description of a tree. A crash leaves the old file or the new one. */
export async function writeManifest(path: string, tree: TreeState): Promise<void> {
  const temporary = `${dirname(path)}/${TEMPORARY_PREFIX}${randomBytes(8).toString("hex")}`;
  try {
    await using file = await open(temporary, "wx", 0o600);
    await file.writeFile(JSON.stringify({ version: VERSION, ...toKeptTree(tree) }));
    await file.sync();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // only the first failure is reported
    throw toFilesystemErrorWithRemedy(error, path, "free space on the disk, then try again");
  }
  syncFile(dirname(path));
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
  const tree = value["version"] === VERSION ? parseKeptTree(value) : null;
  if (tree) return tree;
  throw FilesystemError.invalid(path, `is not a valid manifest. D${REMEDY.slice(1)}.`);
}

const VERSION = 1;
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
