import { FilesystemError, type FilesystemErrorCode } from "./filesystem-error.ts";

/** Why a file system does not do what it is asked. */
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

/** The same error for the same reason, whatever the file system. */
export function refused(path: string, reason: Reason, cause?: unknown): FilesystemError {
  const [code, problem] = REASONS[reason];
  return new FilesystemError(code, path, problem, cause);
}

/** A copy of what is to be written, so that the caller may go on using its own. */
export function checkedBytes(path: string, bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) throw refused(path, "not-bytes");
  return new Uint8Array(bytes);
}
