import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync, type Stats } from "node:fs";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { enterFolder, readSortedEntries } from "../folder-entries.ts";

/**
 * Computes the SHA-256 of every file below a folder, by path, in the order in which the folder is packed.
 * Synchronous, so run it in a thread. Throws `FilesystemError` if an entry is neither a file nor a folder, cannot
 * be read, or changes while it is read.
 */
export function hashFiles(folder: string): ReadonlyMap<string, string> {
  const root = folder.endsWith("/") ? folder : `${folder}/`; // the slash follows a symlink to the folder
  const state: HashState = {
    root,
    digests: new Map(),
    buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES),
  };
  hashFolder(root, "", state);
  return state.digests;
}

/** Runs `hashFiles` in a thread. */
export const hashFilesJob = threadJob(import.meta.url, hashFiles);

const BUFFER_BYTES = 1024 * 1024;

interface HashState {
  /** The folder and a slash, for messages. */
  readonly root: string;
  readonly digests: Map<string, string>;
  readonly buffer: Buffer;
}

function hashFolder(place: string, prefix: string, state: HashState): void {
  using folder = enterFolder(place, state.root + prefix, HASH_REMEDY);
  for (const { name, kind, hostPath } of readSortedEntries(`${folder.hostPath}/`, HASH_REMEDY)) {
    if (kind === "folder") hashFolder(hostPath, `${prefix}${name}/`, state);
    else if (kind === "file")
      state.digests.set(prefix + name, hashFile(hostPath, prefix + name, state));
    else throw createNotAFileError(state.root + prefix + name);
  }
}

function hashFile(place: string, path: string, { buffer, root }: HashState): string {
  const hostPath = root + path;
  const file = openFile(place, hostPath);
  try {
    const before = fstatSync(file);
    if (!before.isFile()) throw createNotAFileError(hostPath);
    const hash = createHash("sha256");
    for (let left = before.size; left > 0; ) {
      const read = readSync(file, buffer, 0, Math.min(left, buffer.length), null);
      if (read === 0) throw createChangedError(hostPath);
      hash.update(buffer.subarray(0, read));
      left -= read;
    }
    if (hasChanged(before, fstatSync(file))) throw createChangedError(hostPath);
    return hash.digest("hex");
  } finally {
    closeSync(file);
  }
}

function openFile(place: string, hostPath: string): number {
  try {
    return openNoFollow(place);
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, hostPath, HASH_REMEDY);
  }
}

function hasChanged(before: Stats, after: Stats): boolean {
  return before.size !== after.size || before.mtimeMs !== after.mtimeMs;
}

const HASH_REMEDY = "make it readable or remove it, then hash the folder again";

function createNotAFileError(path: string): FilesystemError {
  return FilesystemError.invalid(
    path,
    "is neither a file nor a folder. Remove it, then hash the folder again.",
  );
}

function createChangedError(path: string): FilesystemError {
  const problem = "changed while it was hashed. Hash it again once nothing writes to it.";
  return FilesystemError.invalid(path, problem);
}
