import { getErrorMessage } from "../../base/errors.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";

/** A file that could not be synced. */
export interface SyncFailure {
  /** The path of the file. */
  readonly path: string;
  /** Why it failed, and what to do. */
  readonly reason: string;
}

/** An error whose message becomes the reason of a {@link SyncFailure}. It is never thrown to callers of the module. */
export class SyncError extends Error {}

/** A file or folder blocks a write. The same sync may remove it later. */
export class ObstructedError extends SyncError {}

/** Returns the reason for a failure in the destination folder `to`. */
export function toSyncReason(error: unknown, to: string): string {
  if (error instanceof SyncError) return error.message;
  const [problem, remedy] = REASONS.get(getErrorCode(error)) ?? [
    getErrorMessage(error),
    "Fix the cause",
  ];
  return `${problem}. ${remedy} and sync again, or sync to a folder other than ${JSON.stringify(to)}.`;
}

const NO_ACCESS = [
  "This user has no access to it",
  "Change its permissions or its folder's",
] as const;
const DISK_FULL = ["The disk is full", "Free some space"] as const;
const READ_ONLY = ["The disk is read-only", "Make it writable"] as const;
const NOT_A_FOLDER = ["A file exists where a folder is needed", "Move it"] as const;
const FOREIGN_FILES = ["Another process has added files there", "Wait until it is done"] as const;

const REASONS = new Map<string | undefined, readonly [string, string]>([
  ["ENOSPC", DISK_FULL],
  ["EDQUOT", DISK_FULL],
  ["EACCES", NO_ACCESS],
  ["EPERM", NO_ACCESS],
  ["EROFS", READ_ONLY],
  ["ENOTDIR", NOT_A_FOLDER],
  ["EEXIST", NOT_A_FOLDER],
  ["ENOTEMPTY", FOREIGN_FILES],
]);
