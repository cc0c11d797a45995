import { messageOf } from "../base/errors.ts";
import type { ProcessIdentity } from "../host/process-identity.ts";
import { SessionStoreError } from "../session/session-store.ts";
import type { SessionPaths } from "./session-file-name.ts";

/** Somebody else has the lock; `path` says so. */
export function heldBy(
  { pid, host, path }: ProcessIdentity & { readonly path: string },
  sessionId: string,
): SessionStoreError {
  const isOurs = pid === process.pid;
  const who = isOurs ? "another store of this process" : `process ${pid} on ${host}`;
  const remedy = isOurs
    ? "share one store, or close the other one first"
    : `wait until it has closed its store; if it is gone, delete ${path}`;
  return new SessionStoreError(
    `Session ${JSON.stringify(sessionId)} is being written by ${who}: ${remedy}`,
    {
      sessionId,
    },
  );
}

/** The writer knows less than there is. */
export function overtaken(sessionId: string): SessionStoreError {
  const remedy = "open it anew with Session.open, and leave the older object";
  const what = `Session ${JSON.stringify(sessionId)} has changed in its store since it was read`;
  return new SessionStoreError(`${what}: ${remedy}`, { sessionId });
}

/** A line that is no record, though whole lines follow it or a line break does. */
export function damaged(paths: SessionPaths, line: number, problem: string): SessionStoreError {
  const what = `Line ${line} of ${paths.file} is not a record: ${problem}`;
  const remedy = "put back a copy of the file, or remove that line and all after it";
  return new SessionStoreError(`${what}: ${remedy}`, { sessionId: paths.id });
}

/** `error` as one of ours, saying what could not be done to which file. */
export function fileError(
  error: unknown,
  { id, file }: SessionPaths,
  what: "read" | "written" | "deleted",
): SessionStoreError {
  if (error instanceof SessionStoreError) return error;
  const remedy =
    what === "written"
      ? "make room or give access, then go on with Session.open from what was kept"
      : "give the store a directory it may use";
  return new SessionStoreError(
    `Session ${JSON.stringify(id)} could not be ${what} (${file}): ${messageOf(error)}: ${remedy}`,
    { sessionId: id, cause: error },
  );
}

/** Whether `error` says that a file is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
