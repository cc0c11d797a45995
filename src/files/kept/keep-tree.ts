import { createHash } from "node:crypto";
import { type BigIntStats, readSync } from "node:fs";
import { threadJob } from "../../host/threads/thread-job.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { digestFolder, type FolderDigest } from "../digests/folder-digest.ts";
import { type FileState, PERMISSION_BITS } from "../tree-state.ts";
import { BlobWriter } from "./blob-writer.ts";

/** A file as it was last read. */
export interface KnownFile extends FileState {
  /** Identifies the version of the file; `null` if it was changed so recently that a change may not show. */
  readonly version: string | null;
}

/** The folder to keep, and where. */
export interface KeepTreeTask {
  readonly folder: string;
  /** The folder for the files' bytes, or `null` to only compute digests. */
  readonly blobs: string | null;
  /** The files as they were last kept. Unchanged files are not read. */
  readonly known: ReadonlyMap<string, KnownFile>;
}

/** The files that were kept. */
export interface KeptFiles extends FolderDigest {
  /** The files, for the next time. */
  readonly known: ReadonlyMap<string, KnownFile>;
}

/**
 * Stores every changed file below a folder and returns the state of all. Synchronous, so run it in a thread. Throws
 * `FilesystemError` if the files cannot be stored; files stored earlier are unchanged then.
 */
export function keepTree({ folder, blobs, known }: KeepTreeTask): KeptFiles {
  const target = blobs ?? folder;
  using writer = blobs === null ? null : new BlobWriter(blobs);
  const now = new Map<string, KnownFile>();
  let failure: { readonly error: unknown } | null = null;
  const readChanged = (path: string, file: number, stats: BigIntStats): FileState => {
    const version = toVersion(stats);
    const before = known.get(path);
    const isSame = version !== null && before?.version === version;
    const content = isSame ? before : keepBytes(file, Number(stats.size));
    const mode = Number(stats.mode) & PERMISSION_BITS;
    const { digest, bytes } = content;
    now.set(path, { digest, bytes, mode, version });
    return { digest, bytes, mode };
  };
  const keepBytes = (file: number, size: number) => {
    if (!writer) return hashBytes(file, size);
    try {
      return writer.store(file, size);
    } catch (error) {
      failure ??= { error }; // such as a full disk, which is not a problem of this file
      throw error;
    }
  };
  const digest = digestFolder(folder, undefined, readChanged);
  try {
    if (failure) throw (failure as { readonly error: unknown }).error;
    writer?.commit();
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, target, DISK_REMEDY);
  }
  return { ...digest, known: now };
}

const DISK_REMEDY = "free space on the disk, then try again";

/** Runs `keepTree` in a thread. */
export const keepTreeJob = threadJob(import.meta.url, keepTree);

/** Returns a text that changes with a file, or `null` if its last change may not show because it is too recent. */
function toVersion({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string | null {
  const changedMs = Number(ctimeNs / 1_000_000n);
  if (Date.now() - changedMs < MIN_AGE_MS) return null;
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** The age from which a change has another timestamp than the one before, on any file system. */
const MIN_AGE_MS = 2_000;

function hashBytes(file: number, size: number): { digest: string; bytes: number } {
  const buffer = Buffer.allocUnsafe(Math.min(size, 2 ** 20));
  const hash = createHash("sha256");
  let bytes = 0;
  for (let read = 1; bytes < size && read > 0; bytes += read) {
    read = readSync(file, buffer, 0, Math.min(size - bytes, buffer.length), bytes);
    hash.update(buffer.subarray(0, read));
  }
  return { digest: hash.digest("hex"), bytes };
}
