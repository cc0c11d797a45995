import { messageOf } from "../base/errors.ts";
import { FilesystemError } from "../base/filesystem-error.ts";
import { hostCode, hostError } from "./host-error.ts";

const PROBLEMS: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOENT", "does not exist"],
  ["ENOTDIR", "has a file where a folder must be"],
  ["EACCES", "is not open to this user"],
  ["EPERM", "is not open to this user"],
]);

/** What this machine says of a path, and what to do about it: `remedy` reads on after a colon. */
export function mountError(error: unknown, path: string, remedy: string): FilesystemError {
  const problem = PROBLEMS.get(hostCode(error)) ?? messageOf(error);
  return new FilesystemError(hostError(path, error).code, path, `${problem}: ${remedy}`, error);
}
