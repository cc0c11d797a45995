import { WinkError } from "./errors.ts";

/** What went wrong, in the words of POSIX. */
export type FilesystemErrorCode =
  | "ENOENT"
  | "EISDIR"
  | "ENOTDIR"
  | "EACCES"
  | "EEXIST"
  | "EINVAL"
  | "EFBIG";

/** A file operation that could not be done; nothing was changed. */
export class FilesystemError extends WinkError {
  override readonly name = "FilesystemError";
  readonly code: FilesystemErrorCode;
  /** As it was given. */
  readonly path: string;

  /** Returns an `EINVAL` error: the path or what is there is not what it must be. */
  static invalid(path: string, problem: string, cause?: unknown): FilesystemError {
    return new this("EINVAL", path, problem, cause);
  }

  constructor(code: FilesystemErrorCode, path: string, problem: string, cause?: unknown) {
    super(`${code}: ${JSON.stringify(path)} ${problem}`, cause === undefined ? {} : { cause });
    this.code = code;
    this.path = path;
  }
}

/** A mount that would reach out of where it may. */
export class WorkspaceSecurityError extends WinkError {
  override readonly name = "WorkspaceSecurityError";
}

/** A mount that is larger than it may be. */
export class WorkspaceBudgetExceededError extends WinkError {
  override readonly name = "WorkspaceBudgetExceededError";
}

/** Why a file system refuses an operation. */
export type Reason =
  | "missing"
  | "directory"
  | "not-directory"
  | "below-file"
  | "exists"
  | "not-empty"
  | "read-only"
  | "root"
  | "not-bytes";

const REASONS: Readonly<Record<Reason, readonly [FilesystemErrorCode, string]>> = {
  missing: ["ENOENT", "does not exist"],
  directory: ["EISDIR", "is a directory: name a file in it"],
  "not-directory": ["ENOTDIR", "is not a directory"],
  "below-file": ["ENOTDIR", "is below something that is not a directory"],
  exists: ["EEXIST", "exists, and is not a directory"],
  "not-empty": ["EISDIR", "is a directory that is not empty: delete what is in it first"],
  "read-only": ["EACCES", "cannot be changed: the file system is read-only"],
  root: ["EACCES", "is the root, which stays"],
  "not-bytes": ["EINVAL", "can only hold a Uint8Array: write text with writeText"],
};

/** Returns the error for a reason: the same one for every file system. */
export function refuse(path: string, reason: Reason, cause?: unknown): FilesystemError {
  const [code, problem] = REASONS[reason];
  return new FilesystemError(code, path, problem, cause);
}

/** Returns a copy of bytes to be written, so that the caller may change its own. */
export function copyBytes(path: string, bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) throw refuse(path, "not-bytes");
  return new Uint8Array(bytes);
}
