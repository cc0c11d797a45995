import { messageOf } from "../base/errors.ts";
import {
  FilesystemError,
  type FilesystemErrorCode,
  type Reason,
  refuse,
} from "../base/filesystem-error.ts";

const REASONS: ReadonlyMap<string | undefined, Reason> = new Map([
  ["ENOENT", "missing"],
  ["ENOTDIR", "below-file"],
  ["EISDIR", "directory"],
  ["ENOTEMPTY", "not-empty"],
]);

const CODES: ReadonlyMap<string | undefined, FilesystemErrorCode> = new Map([
  ["EEXIST", "EEXIST"],
  ["EINVAL", "EINVAL"],
  ["ENXIO", "EINVAL"],
  ["EILSEQ", "EINVAL"],
  ["ENAMETOOLONG", "EINVAL"],
  ["EFBIG", "EFBIG"],
  ["ENOSPC", "EFBIG"],
  ["EDQUOT", "EFBIG"],
  ["ERR_FS_FILE_TOO_LARGE", "EFBIG"],
]);

/** What this machine says of a file, as ours; whatever has no word of its own is EACCES. */
export function hostError(path: string, error: unknown): FilesystemError {
  if (error instanceof FilesystemError) return error;
  const reason = REASONS.get(hostCode(error));
  if (reason) return refuse(path, reason, error);
  const [said] = messageOf(error).split(", "); // the rest names a path of this machine
  const problem = `was refused by this machine: ${said}`;
  return new FilesystemError(CODES.get(hostCode(error)) ?? "EACCES", path, problem, error);
}

/** What this machine says of a path, and what to do about it: `remedy` reads on after a colon. */
export function mountError(error: unknown, path: string, remedy: string): FilesystemError {
  const problem = PROBLEMS.get(hostCode(error)) ?? messageOf(error);
  return new FilesystemError(hostError(path, error).code, path, `${problem}: ${remedy}`, error);
}

const PROBLEMS: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOENT", "does not exist"],
  ["ENOTDIR", "has a file where a folder must be"],
  ["EACCES", "is not open to this user"],
  ["EPERM", "is not open to this user"],
]);

/** Node's code of an error, if it has one. */
export function hostCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Waits for `work`, and takes the named failures for success. */
export async function unless(work: Promise<unknown>, ...codes: readonly string[]): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!codes.includes(hostCode(error) ?? "")) throw error;
  }
}
