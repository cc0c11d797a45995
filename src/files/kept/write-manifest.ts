import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import type { TreeState } from "../tree-state.ts";
import { syncFile, TEMPORARY_PREFIX } from "./blob-writer.ts";
import { toKeptTree } from "./kept-tree.ts";
import { MANIFEST_VERSION } from "./read-manifest.ts";

/** Replaces a file with the description of a tree. A crash leaves the old file or the new one. */
export async function writeManifest(path: string, tree: TreeState): Promise<void> {
  const temporary = `${dirname(path)}/${TEMPORARY_PREFIX}${randomBytes(8).toString("hex")}`;
  try {
    await using file = await open(temporary, "wx", 0o600);
    await file.writeFile(JSON.stringify({ version: MANIFEST_VERSION, ...toKeptTree(tree) }));
    await file.sync();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // only the first failure is reported
    throw toFilesystemErrorWithRemedy(error, path, "free space on the disk, then try again");
  }
  syncFile(dirname(path));
}
