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
