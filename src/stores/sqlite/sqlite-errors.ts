import { getErrorMessage } from "../../base/errors.ts";
import { PathRefusal } from "../../host/path-refusal.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { findDiskRemedy } from "../session-file-errors.ts";

/** Wraps an error of a database file in a `SessionStoreError` with a remedy. */
export function toSqliteError(error: unknown, path: string): SessionStoreError {
  if (error instanceof SessionStoreError) return error;
  const remedy = error instanceof PathRefusal ? error.remedy : findRemedy(error);
  return new SessionStoreError(
    `The database ${path} cannot be used: ${getErrorMessage(error)}. ${remedy}`,
    { cause: error },
  );
}

/** Returns whether another connection has locked the database. */
export function isBusy(error: unknown): boolean {
  return getResultCode(error) === BUSY;
}

/** Returns the refusal of a database with tables that this release does not know. */
export function createForeignRefusal(): PathRefusal {
  return new PathRefusal("it is damaged, or the database of another program", DAMAGED);
}

/** Returns the refusal of a database that a newer release has written. */
export function createNewerRefusal(version: number): PathRefusal {
  const remedy = "Update weakincentives, or use another path.";
  return new PathRefusal(`a newer release has written it (version ${version})`, remedy);
}

const BUSY = 5;
const DAMAGED = "Restore a backup of it, or use another path.";
const UNWRITABLE = "Use a path in a folder that the store can write to.";
/** Remedies by SQLite's primary result code. */
const REMEDIES: ReadonlyMap<number, string> = new Map([
  [1, DAMAGED], // the tables are not the expected ones
  [
    BUSY,
    "Another process has locked it for too long: end that process, then open the session again.",
  ],
  [8, UNWRITABLE],
  [10, "Check its disk, then reopen the session with Session.open."],
  [11, DAMAGED],
  [13, "Free space on that disk, then reopen the session with Session.open."],
  [14, UNWRITABLE],
  [19, DAMAGED],
  [26, DAMAGED],
]);

function findRemedy(error: unknown): string {
  return REMEDIES.get(getResultCode(error)) ?? findDiskRemedy(error) ?? UNWRITABLE;
}

/** Returns SQLite's primary result code, or -1 for other errors. */
function getResultCode(error: unknown): number {
  if (!(error instanceof Error && "errcode" in error)) return -1;
  return Number(error.errcode) & 0xff; // the rest are details
}
