import { getErrorMessage } from "../base/errors.ts";
import { PathRefusal } from "../host/path-refusal.ts";
import { getErrorCode } from "../host/to-filesystem-error.ts";
import { SessionStoreError } from "../session/session-store.ts";
import { MAX_RECORD_BYTES } from "./record-lines.ts";
import type { SessionPaths } from "./session-file-name.ts";

/** The holder of a session, and the time of the claim. */
export interface SessionHolder {
  readonly owner: string;
  /** In ISO 8601. */
  readonly since: string;
  /** The file to delete if the holder no longer exists. @default the holder ends by itself */
  readonly path?: string | undefined;
}

/** Returns the error for a session that another writer holds. */
export function createHeldError(
  sessionId: string,
  { owner, since, path }: SessionHolder,
): SessionStoreError {
  const what = `Session ${JSON.stringify(sessionId)} is held by ${owner} since ${since}`;
  const remedy = 'Wait until it is released, or evaluate with ifClaimed: "wait".';
  const last = path === undefined ? "" : ` If that process no longer exists, delete ${path}.`;
  return new SessionStoreError(`${what}. ${remedy}${last}`, { sessionId, owner, since });
}

/** Returns the error for a writer whose claim has ended. */
export function createLostClaimError(sessionId: string): SessionStoreError {
  const what = `The claim on session ${JSON.stringify(sessionId)} has ended`;
  const remedy = "Another writer may have it; open the session again with Session.open.";
  return new SessionStoreError(`${what}. ${remedy}`, { sessionId });
}

/** Returns the error for a writer with outdated data. */
export function createOutdatedError(sessionId: string): SessionStoreError {
  const remedy = "Reopen it with Session.open and discard the old object.";
  const what = `Session ${JSON.stringify(sessionId)} has changed in its store since it was read`;
  return new SessionStoreError(`${what}. ${remedy}`, { sessionId });
}

/** Returns the error for a record that is too large to be stored. */
export function createTooLargeError(sessionId: string): SessionStoreError {
  const limit = `${MAX_RECORD_BYTES.toLocaleString("en-US")} bytes`;
  const what = `A record of session ${JSON.stringify(sessionId)} is larger than ${limit}`;
  const remedy = "Keep large data in files, and store their paths.";
  return new SessionStoreError(`${what}. ${remedy}`, { sessionId });
}

/** Returns the error for a complete line that is not a record. */
export function createDamagedError(
  paths: SessionPaths,
  line: number,
  problem: string,
): SessionStoreError {
  const what = `Line ${line} of ${paths.file} is not a record: ${problem}`;
  const remedy = "Restore a copy of the file, or remove that line and everything after it.";
  return new SessionStoreError(`${what}. ${remedy}`, { sessionId: paths.id });
}

/** Wraps an error of a file operation in a `SessionStoreError`. */
export function toSessionFileError(
  error: unknown,
  { id, file }: SessionPaths,
  what: "read" | "written" | "deleted",
): SessionStoreError {
  if (error instanceof SessionStoreError) return error;
  const remedy = findRemedy(error, what);
  return new SessionStoreError(
    `Session ${JSON.stringify(id)} could not be ${what} (${file}): ${getErrorMessage(error)}. ${remedy}`,
    { sessionId: id, cause: error },
  );
}

function findRemedy(error: unknown, what: "read" | "written" | "deleted"): string {
  if (error instanceof PathRefusal) return error.remedy;
  const known = findDiskRemedy(error);
  if (known !== null) return known;
  return what === "written"
    ? "Free disk space or fix the permissions, then reopen the session with Session.open."
    : "Use a directory that the store can read and write.";
}

/** Returns what to do about a full or read-only disk; `null` for other errors. */
export function findDiskRemedy(error: unknown): string | null {
  return REMEDIES.get(getErrorCode(error)) ?? null;
}

const FULL = "Free space on that disk, then reopen the session with Session.open.";
const REMEDIES: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
  ["EROFS", "That disk is read-only: use a directory on another one."],
]);

/** Returns whether `error` means that a file does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
