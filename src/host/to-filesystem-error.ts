import { getErrorMessage } from "../base/errors.ts";
import {
  createFilesystemError,
  FilesystemError,
  type FilesystemErrorCode,
  type FilesystemErrorReason,
} from "../base/filesystem-error.ts";
import { toSentence } from "../base/to-sentence.ts";

const REASONS: ReadonlyMap<string | undefined, FilesystemErrorReason> = new Map([
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

/** Converts an error of the host's file system. An error without a matching code becomes EACCES. */
export function toFilesystemError(path: string, error: unknown): FilesystemError {
  if (error instanceof FilesystemError) return error;
  const reason = REASONS.get(getErrorCode(error));
  if (reason) return createFilesystemError(path, reason, error);
  const [reported] = getErrorMessage(error).split(", "); // the rest names a path of this host
  const problem = `was rejected by the host: ${reported}`;
  return new FilesystemError(CODES.get(getErrorCode(error)) ?? "EACCES", path, problem, error);
}

/** Converts an error of the host's file system and adds a remedy. */
export function toFilesystemErrorWithRemedy(
  error: unknown,
  path: string,
  remedy: string,
): FilesystemError {
  const problem = PROBLEMS.get(getErrorCode(error)) ?? getErrorMessage(error);
  return new FilesystemError(
    toFilesystemError(path, error).code,
    path,
    `${problem}. ${toSentence(remedy)}`,
    error,
  );
}

const PROBLEMS: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOENT", "does not exist"],
  ["ENOTDIR", "has a file where a folder is expected"],
  ["EACCES", "is not accessible to this user"],
  ["EPERM", "is not accessible to this user"],
]);

/** Returns Node's error code, if the error has one. */
export function getErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Waits for `work` and ignores errors with the given codes. */
export async function ignoreErrorCodes(
  work: Promise<unknown>,
  ...codes: readonly string[]
): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!codes.includes(getErrorCode(error) ?? "")) throw error;
  }
}
