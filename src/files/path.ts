import { FilesystemError } from "../base/filesystem-error.ts";

/** The root itself. */
export const ROOT = ".";

const MOST_SEGMENTS = 64;
const LONGEST_NAME_BYTES = 255;

/**
 * The one spelling of a path within a root: `a/b`, or `.` for the root. Refuses what is absolute,
 * empty, holds a NUL or leaves the root; strips nothing but `.` segments and resolves `..` within.
 */
export function checkedPath(path: string): string {
  if (typeof path !== "string") throw FilesystemError.invalid(String(path), "is not text");
  if (path === "") throw FilesystemError.invalid(path, 'is empty: the root is "."');
  if (path.includes("\0")) throw FilesystemError.invalid(path, "holds a NUL");
  if (!path.isWellFormed()) throw FilesystemError.invalid(path, "holds half of a character");
  if (path.startsWith("/"))
    throw FilesystemError.invalid(path, "is absolute: paths start at the root");
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "") throw FilesystemError.invalid(path, "has an empty segment: write a/b");
    if (segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) throw FilesystemError.invalid(path, "leaves the root");
  }
  checkLimits(path, segments);
  return segments.length === 0 ? ROOT : segments.join("/");
}

/** The directory a checked path is in; the root is in itself. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? ROOT : path.slice(0, slash);
}

/** Every directory above a checked path, nearest first, without the root. */
export function ancestorsOf(path: string): readonly string[] {
  const above: string[] = [];
  for (let dir = parentOf(path); dir !== ROOT; dir = parentOf(dir)) above.push(dir);
  return above;
}

function checkLimits(path: string, segments: readonly string[]): void {
  if (segments.length > MOST_SEGMENTS) {
    throw FilesystemError.invalid(
      path,
      `is ${segments.length} levels deep: at most ${MOST_SEGMENTS} are allowed`,
    );
  }
  const bytes = new TextEncoder();
  const long = segments.find((name) => bytes.encode(name).length > LONGEST_NAME_BYTES);
  if (long === undefined) return;
  throw FilesystemError.invalid(path, `has a name of more than ${LONGEST_NAME_BYTES} bytes`);
}
