import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { WorkspaceBudgetExceededError } from "../../../base/filesystem-error.ts";
import { TAR_BLOCK_BYTES } from "./tar-header.ts";

/** A file with its size. */
export interface SizedFile {
  readonly path: string;
  readonly bytes: number;
}

/** The files and folders of a tree, as far as they matter for its size. */
export interface SizedTree {
  readonly files: readonly SizedFile[];
  readonly folderCount: number;
}

/** How many of the largest files an error names. */
const MAX_NAMED_FILES = 5;

/** Reads the sizes of a folder's files. Synchronous, so run it in a thread. Skips unreadable files. */
export function readSizes(folder: string): SizedTree {
  const files: SizedFile[] = [];
  let folderCount = 0;
  const ahead = [""];
  for (let prefix = ahead.pop(); prefix !== undefined; prefix = ahead.pop()) {
    for (const entry of readEntries(`${folder}/${prefix}`)) {
      const path = prefix + entry.name;
      if (entry.isDirectory()) {
        folderCount += 1;
        ahead.push(`${path}/`);
        continue;
      }
      const stats = lstatSync(`${folder}/${path}`, { throwIfNoEntry: false });
      if (stats) files.push({ path, bytes: stats.size });
    }
  }
  return { files, folderCount };
}

function readEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // packing the folder reports the error
  }
}

/** Computes the size of a tree's tar, without the extra blocks of names that need them. */
export function computeTarBytes({ files, folderCount }: SizedTree): number {
  const ends = 2 * TAR_BLOCK_BYTES;
  const headers = (files.length + folderCount) * TAR_BLOCK_BYTES;
  return files.reduce((sum, { bytes }) => sum + toBlocks(bytes), ends + headers);
}

/** Throws `WorkspaceBudgetExceededError` if a tree's tar is larger than `maxBytes`. Returns its size. */
export function checkTarSize(tree: SizedTree, maxBytes: number): number {
  const bytes = computeTarBytes(tree);
  if (bytes <= maxBytes) return bytes;
  const problem = `The workspace's files are ${bytes} bytes long as one archive, and one upload can have at most ${maxBytes}.`;
  throw createTooLargeError(problem, tree.files);
}

/** Creates the error for files that cannot be uploaded. It names the largest ones. */
export function createTooLargeError(
  problem: string,
  files: readonly SizedFile[],
): WorkspaceBudgetExceededError {
  const largest = files.toSorted((one, other) => other.bytes - one.bytes).slice(0, MAX_NAMED_FILES);
  const names = largest.map(({ path, bytes }) => `${JSON.stringify(path)} (${bytes} bytes)`);
  const remedy = "Exclude files with excludeGlob or gitignore, or remove them.";
  return new WorkspaceBudgetExceededError(
    `${problem} The largest are ${names.join(", ")}. ${remedy}`,
  );
}

function toBlocks(bytes: number): number {
  return Math.ceil(bytes / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES;
}
