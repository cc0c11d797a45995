import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync, type Stats } from "node:fs";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { openNoFollow } from "../../host/file-access.ts";
import { mountError } from "../../host/host-error.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { entriesByPath } from "../folder-entries.ts";

/**
 * The SHA-256 of every file below a folder by its path, synchronously: for a thread. In the order in
 * which a folder is packed. Throws `FilesystemError` for what is neither file nor folder, cannot be
 * read or changes meanwhile.
 */
export function hashFiles(folder: string): ReadonlyMap<string, string> {
  const hashing: Hashing = { digests: new Map(), buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES) };
  hashFolder(folder.endsWith("/") ? folder : `${folder}/`, "", hashing);
  return hashing.digests;
}

/** Runs `hashFiles` in a thread. */
export const hashFilesJob = threadJob(import.meta.url, hashFiles);

const BUFFER_BYTES = 1024 * 1024;

interface Hashing {
  readonly digests: Map<string, string>;
  readonly buffer: Buffer;
}

function hashFolder(hostPrefix: string, prefix: string, hashing: Hashing): void {
  for (const { name, kind, hostPath } of entriesByPath(hostPrefix, TO_HASH)) {
    if (kind === "folder") hashFolder(`${hostPath}/`, `${prefix}${name}/`, hashing);
    else if (kind === "file") hashing.digests.set(prefix + name, hashFile(hostPath, hashing));
    else throw notAFile(hostPath);
  }
}

function hashFile(hostPath: string, { buffer }: Hashing): string {
  const file = openFile(hostPath);
  try {
    const before = fstatSync(file);
    if (!before.isFile()) throw notAFile(hostPath);
    const hash = createHash("sha256");
    for (let left = before.size; left > 0; ) {
      const read = readSync(file, buffer, 0, Math.min(left, buffer.length), null);
      if (read === 0) throw changed(hostPath);
      hash.update(buffer.subarray(0, read));
      left -= read;
    }
    if (isOther(before, fstatSync(file))) throw changed(hostPath);
    return hash.digest("hex");
  } finally {
    closeSync(file);
  }
}

function openFile(hostPath: string): number {
  try {
    return openNoFollow(hostPath);
  } catch (error) {
    throw mountError(error, hostPath, TO_HASH);
  }
}

function isOther(before: Stats, after: Stats): boolean {
  return before.size !== after.size || before.mtimeMs !== after.mtimeMs;
}

const TO_HASH = "a folder has digests of all its files, or none";

function notAFile(path: string): FilesystemError {
  return FilesystemError.invalid(path, "is neither file nor folder: remove it, then digest");
}

function changed(path: string): FilesystemError {
  const problem = "changed while it was digested: digest again when it is left alone";
  return FilesystemError.invalid(path, problem);
}
