import { createHash } from "node:crypto";
import { type BigIntStats, closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { getErrorMessage } from "../../base/errors.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { PinnedFolder } from "../../host/pinned-folder.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { compareByPath, type FolderEntry, listEntries } from "../folder-entries.ts";
import { normalizePath, ROOT } from "../path.ts";
import type { SyncFailure } from "../sync/sync-failure.ts";
import { type FileState, PERMISSION_BITS, type TreeState } from "../tree-state.ts";

/** The files and folders of a folder that other processes may have changed. Lists only those that can be synced. */
export interface FolderDigest extends TreeState {
  /** The entries that cannot be synced, and why. A folder includes everything below it. */
  readonly failed: readonly SyncFailure[];
}

/**
 * Computes the state of every file and folder below a folder. Synchronous, so run it in a thread. Entries that cannot be
 * read are reported, not thrown, and symlinks are not followed. A file that is being written has the digest of
 * the bytes that were read.
 */
export function digestFolder(
  folder: string,
  onContent: OnContent = () => {},
  readFile: ReadFile | null = null,
): FolderDigest {
  const found = { files: new Map(), folders: new Map(), failed: [] };
  const state: DigestState = { ...found, buffer: null, onContent, readFile };
  collectFailure(state, ROOT, () => {
    if (!lstatSync(folder).isDirectory()) throw new UntransferableError("is no longer a folder");
    using pinned = PinnedFolder.pin(Buffer.from(folder));
    digestEntries(`${pinned.hostPath}/`, "", state);
  });
  const { files, folders, failed } = state;
  return { files, folders, failed };
}

/** Runs `digestFolder` in a thread. */
export const digestFolderJob = threadJob(import.meta.url, digestFolder);

/** Called with the bytes of each file of up to {@link MAX_CONTENT_BYTES}. They are valid only during the call. */
export type OnContent = (path: string, bytes: Uint8Array) => void;

/** Reads the state of an open regular file in place of hashing it. */
export type ReadFile = (path: string, file: number, stats: BigIntStats) => FileState;

/** The size of the largest file that {@link OnContent} is called for: 4 MiB. */
export const MAX_CONTENT_BYTES = 4 * 1024 * 1024;

interface DigestState {
  readonly files: Map<string, FileState>;
  readonly folders: Map<string, number>;
  readonly failed: SyncFailure[];
  buffer: Buffer | null;
  readonly onContent: OnContent;
  readonly readFile: ReadFile | null;
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
  if (kind === "folder") {
    using folder = PinnedFolder.pin(Buffer.from(hostPath));
    digestEntries(`${folder.hostPath}/`, `${path}/`, state);
    state.folders.set(path, Number(folder.stat().mode) & PERMISSION_BITS);
  } else state.files.set(path, readFileState(path, hostPath, state));
}

function checkName(path: string): void {
  try {
    normalizePath(path);
  } catch {
    throw new UntransferableError("has a name that cannot be used as a path");
  }
}

function readFileState(path: string, hostPath: string, state: DigestState): FileState {
  const file = openNoFollow(hostPath);
  try {
    const stats = fstatSync(file, { bigint: true });
    if (!stats.isFile()) throw new UntransferableError("is neither file nor folder");
    if (state.readFile) return state.readFile(path, file, stats);
    state.buffer ??= Buffer.allocUnsafeSlow(MAX_CONTENT_BYTES);
    const { buffer } = state;
    const [size, mode] = [Number(stats.size), Number(stats.mode)];
    const isWhole = size <= buffer.length;
    const hash = createHash("sha256");
    let bytes = 0;
    // Stop at the original size: a file may grow as fast as it is read.
    for (let read = 1; bytes < size && read > 0; bytes += read) {
      const start = isWhole ? bytes : 0;
      read = readSync(file, buffer, start, Math.min(size - bytes, buffer.length - start), null);
      hash.update(buffer.subarray(start, start + read));
    }
    if (isWhole) state.onContent(path, buffer.subarray(0, bytes));
    return { digest: hash.digest("hex"), bytes, mode: mode & PERMISSION_BITS };
  } finally {
    closeSync(file);
  }
}
