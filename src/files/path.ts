import { FilesystemError } from "../base/filesystem-error.ts";

/** The path of the root. */
export const ROOT = ".";

const MAX_SEGMENTS = 64;
const MAX_NAME_BYTES = 255;

/**
 * Normalizes a path within a root to the form `a/b`, or `.` for the root. Removes `.` segments and resolves
 * `..` segments. Throws `FilesystemError` if the path is absolute or empty, contains a NUL, leaves the root,
 * has more than 64 segments or a segment longer than 255 bytes.
 */
export function normalizePath(path: string): string {
  if (typeof path !== "string") throw FilesystemError.invalid(String(path), "is not a string");
  if (path === "") throw FilesystemError.invalid(path, 'is empty. Use "." for the root.');
  if (path.includes("\0")) throw FilesystemError.invalid(path, "contains a NUL character");
  if (!path.isWellFormed()) throw FilesystemError.invalid(path, "contains a lone surrogate");
  if (path.startsWith("/"))
    throw FilesystemError.invalid(path, "is absolute. Use a path relative to the root.");
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "")
      throw FilesystemError.invalid(path, "has an empty segment. Use single slashes, as in a/b.");
    if (segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) throw FilesystemError.invalid(path, "leaves the root");
  }
  checkLimits(path, segments);
  return segments.length === 0 ? ROOT : segments.join("/");
}

/** Returns the parent directory of a normalized path. The parent of the root is the root. */
export function getParent(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? ROOT : path.slice(0, slash);
}

/** Returns every directory above a normalized path, nearest first, without the root. */
export function listAncestors(path: string): readonly string[] {
  const above: string[] = [];
  for (let dir = getParent(path); dir !== ROOT; dir = getParent(dir)) above.push(dir);
  return above;
}

function checkLimits(path: string, segments: readonly string[]): void {
  if (segments.length > MAX_SEGMENTS) {
    throw FilesystemError.invalid(
      path,
      `is ${segments.length} levels deep. The maximum is ${MAX_SEGMENTS}.`,
    );
  }
  const bytes = new TextEncoder();
  const long = segments.find((name) => bytes.encode(name).length > MAX_NAME_BYTES);
  if (long === undefined) return;
  throw FilesystemError.invalid(
    path,
    `has a name longer than ${MAX_NAME_BYTES} bytes. Shorten it.`,
  );
}
