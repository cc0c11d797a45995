import type { HostEntry } from "./host-entry.ts";
import { ConflictError } from "./sync-conflict.ts";
import { ObstructedError, SyncError } from "./sync-failure.ts";
import type { Expectation } from "./sync-guard.ts";

/** The host's entry at a path, and the entry that it should have. */
export interface HostSituation {
  readonly entry: HostEntry;
  /** Whether the path is a symlink that leads to `entry`. */
  readonly isLink: boolean;
  readonly expected: Expectation | "anything";
}

/** The file to write. */
export interface WantedFile {
  /** The digest of its bytes, or `null` if it is unknown. */
  readonly digest: string | null;
  /** Whether only its permissions have changed. */
  readonly isModeOnly: boolean;
}

/** How a file is written. `"adjust"`: the host's bytes stay, and only the permissions may change. */
export type WriteAction = "create" | "replace" | "adjust";

/**
 * Decides how a file is written. Throws `ConflictError` if the host's version must stay, `ObstructedError` if a
 * folder is in the way, and `SyncError` if the path cannot be written at all.
 */
export function decideWrite(
  { entry, isLink, expected }: HostSituation,
  { digest, isModeOnly }: WantedFile,
): WriteAction {
  if (entry.kind === "folder") throw new ObstructedError(BLOCKED_BY_FOLDER);
  if (expected === "anything") {
    if (entry.kind === "missing") return "create";
    if (entry.kind !== "file") throw new SyncError(NOT_A_FILE);
    return isModeOnly ? "adjust" : "replace";
  }
  if (isLink && !expected.mayBeLink) throw new ConflictError(IS_A_LINK);
  if (entry.kind === "missing") {
    if (expected.mayBeMissing) return "create";
    throw new ConflictError(DELETED_ON_HOST);
  }
  if (entry.kind !== "file") throw new ConflictError(IS_NOT_A_FILE);
  if (isModeOnly || entry.digest === digest) return "adjust";
  if (expected.file !== null && entry.digest === expected.file.digest) return "replace";
  throw new ConflictError(expected.mayBeMissing ? DIFFERENT_FILE : EDITED_ON_HOST);
}

/**
 * Decides whether a file is removed. Throws `ConflictError` if the host's version must stay, and `SyncError` if
 * the path cannot be removed.
 */
export function decideRemoval({ entry, isLink, expected }: HostSituation): "remove" | "nothing" {
  if (entry.kind === "missing" && !isLink) return "nothing";
  if (expected === "anything") {
    if (isLink || entry.kind === "file") return "remove";
    throw new SyncError(entry.kind === "folder" ? IS_A_FOLDER : NOT_A_FILE);
  }
  if (isLink) throw new ConflictError(IS_A_LINK);
  if (entry.kind !== "file") throw new ConflictError(IS_NOT_A_FILE);
  const { file } = expected;
  const mode = Number(entry.stats.mode) & 0o777;
  const isExpected = entry.digest === file?.digest && (file?.mode ?? mode) === mode;
  if (isExpected) return "remove";
  throw new ConflictError(expected.mayBeMissing ? DIFFERENT_FILE : EDITED_ON_HOST);
}

const BLOCKED_BY_FOLDER = "A folder exists where a file is needed. Move it, then sync again.";
const NOT_A_FILE = "The destination is neither a file nor a folder. Move it, then sync again.";
const IS_A_FOLDER = "The destination is a folder. Remove it by hand.";
const DELETED_ON_HOST = "It was deleted on the host after it was mounted.";
const EDITED_ON_HOST = "It was edited on the host after it was mounted.";
const DIFFERENT_FILE = "The host has a different file there.";
const IS_A_LINK = "The host has a symlink there.";
const IS_NOT_A_FILE = "It is no longer a file on the host.";
