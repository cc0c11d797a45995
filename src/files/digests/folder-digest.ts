import { createHash } from "node:crypto";
import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { getErrorMessage } from "../../base/errors.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { compareByPath, type FolderEntry, listEntries } from "../folder-entries.ts";
import { normalizePath, ROOT } from "../path.ts";
import type { SyncFailure } from "../sync/sync-failure.ts";

/** The digests of a folder that other processes may have changed. */
export interface FolderDigest {
  /** The SHA-256 of every file that can be synced, in hexadecimal, by path. */
  readonly digests: ReadonlyMap<string, string>;
  /** The entries that cannot be synced, and why. A folder includes everything below it. */
  readonly failed: readonly SyncFailure[];
}

/**
 * Computes the digest of every file below a folder. Synchronous, so run it in a thread. Entries that cannot be
 * read are reported, not thrown, and symlinks are not followed. A file that is being written has the digest of
 * the bytes that were read.
 */
export function digestFolder(folder: string): FolderDigest {
  const state: DigestState = { digests: new Map(), failed: [], buffer: null };
  collectFailure(state, ROOT, () => {
    if (!lstatSync(folder).isDirectory()) throw new UntransferableError("is no longer a folder");
    digestEntries(`${folder}/`, "", state);
  });
  return { digests: state.digests, failed: state.failed };
}

/** Runs `surveyFiles` in a thread. */
export const digestFolderJob = threadJob(import.meta.url, digestFolder);

interface DigestState {
  readonly digests: Map<string, string>;
  readonly failed: SyncFailure[];
  buffer: Buffer | null;
}

/** Thrown for an entry that cannot be synced. Only its message leaves this file. */
class UntransferableError extends Error {}

function collectFailure(state: DigestState, path: string, look: () => void): void {
  try {
    look();
  } catch (error) {
    if (hasVanished(path, error)) return;
    const [message] = getErrorMessage(error).split(", "); // the rest contains a host path
    const reason =
      error instanceof UntransferableError ? error.message : `cannot be read: ${message}`;
    state.failed.push({ path, reason });
  }
}

/** Whether an entry was removed while the folder was read. A name that is not UTF-8 exists, but not under the name that was read. */
function hasVanished(path: string, error: unknown): boolean {
  return getErrorCode(error) === "ENOENT" && path !== ROOT && !path.includes("\uFFFD");
}

function digestEntries(hostPrefix: string, prefix: string, state: DigestState): void {
  for (const entry of listEntries(hostPrefix).toSorted(compareByPath)) {
    const path = prefix + entry.name;
    collectFailure(state, path, () => digestEntry(path, entry, state));
  }
}

function digestEntry(path: string, { kind, hostPath }: FolderEntry, state: DigestState): void {
  if (kind === "link")
    throw new UntransferableError("is a symlink, and only files and folders are synced");
  if (kind === "other") throw new UntransferableError("is neither file nor folder");
  checkName(path);
  if (kind === "folder") digestEntries(`${hostPath}/`, `${path}/`, state);
  else state.digests.set(path, hashContent(hostPath, state));
}

function checkName(path: string): void {
  try {
    normalizePath(path);
  } catch {
    throw new UntransferableError("has a name that cannot be used as a path");
  }
}

const BUFFER_BYTES = 1024 * 1024;

function hashContent(hostPath: string, state: DigestState): string {
  state.buffer ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
  const { buffer } = state;
  const file = openNoFollow(hostPath);
  try {
    const hash = createHash("sha256");
    // Stop at the original size: a file may grow as fast as it is read.
    for (let left = fstatSync(file).size, read = 1; left > 0 && read > 0; left -= read) {
      read = readSync(file, buffer, 0, Math.min(left, buffer.length), null);
      hash.update(buffer.subarray(0, read));
    }
    return hash.digest("hex");
  } finally {
    closeSync(file);
  }
}
