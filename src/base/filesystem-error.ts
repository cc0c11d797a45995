import { WinkError } from "./errors.ts";

/** The kind of failure, as a POSIX error code. */
export type FilesystemErrorCode =
  | "ENOENT"
  | "EISDIR"
  | "ENOTDIR"
  | "EACCES"
  | "EEXIST"
  | "EINVAL"
  | "EFBIG";

/** Thrown when a file operation fails. Nothing has been changed. */
export class FilesystemError extends WinkError {
  override readonly name = "FilesystemError";
  /** The kind of failure. */
  readonly code: FilesystemErrorCode;
  /** The path as the caller passed it. */
  readonly path: string;

  /** Returns an `EINVAL` error: the path, or the file at it, is not valid for the operation. */
  static invalid(path: string, problem: string, cause?: unknown): FilesystemError {
    return new this("EINVAL", path, problem, cause);
  }

  constructor(code: FilesystemErrorCode, path: string, problem: string, cause?: unknown) {
    super(`${code}: ${JSON.stringify(path)} ${problem}`, cause === undefined ? {} : { cause });
    this.code = code;
    this.path = path;
  }
}

/** Thrown when a mount would access files outside its allowed roots. */
export class WorkspaceSecurityError extends WinkError {
  override readonly name = "WorkspaceSecurityError";
}

/** Thrown when a mount exceeds its size limit. */
export class WorkspaceBudgetExceededError extends WinkError {
  override readonly name = "WorkspaceBudgetExceededError";
}

/** Why a file system rejects an operation. */
export type FilesystemErrorReason =
  | "missing"
  | "directory"
  | "not-directory"
  | "below-file"
  | "exists"
  | "not-empty"
  | "read-only"
  | "root"
  | "not-bytes";

const REASONS: Readonly<Record<FilesystemErrorReason, readonly [FilesystemErrorCode, string]>> = {
  missing: ["ENOENT", "does not exist"],
  directory: ["EISDIR", "is a directory. Name a file inside it."],
  "not-directory": ["ENOTDIR", "is not a directory"],
  "below-file": ["ENOTDIR", "has a parent that is not a directory"],
  exists: ["EEXIST", "already exists and is not a directory"],
  "not-empty": ["EISDIR", "is a directory that is not empty. Delete its contents first."],
  "read-only": ["EACCES", "cannot be changed because the file system is read-only"],
  root: ["EACCES", "is the root directory, which cannot be deleted"],
  "not-bytes": ["EINVAL", "must be written as a Uint8Array. Use writeText for a string."],
};

/** Returns the error for a reason. Every file system throws the same errors. */
export function createFilesystemError(
  path: string,
  reason: FilesystemErrorReason,
  cause?: unknown,
): FilesystemError {
  const [code, problem] = REASONS[reason];
  return new FilesystemError(code, path, problem, cause);
}

/** Copies bytes before they are written, so that the caller can change the originals. */
export function copyBytes(path: string, bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) throw createFilesystemError(path, "not-bytes");
  return new Uint8Array(bytes);
}
