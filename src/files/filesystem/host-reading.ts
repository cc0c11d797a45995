import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createFilesystemError, FilesystemError } from "../../base/filesystem-error.ts";
import type { PinnedEntry, PinnedFolder } from "../../host/pinned-folder.ts";
import { type PathEnd, WalkedPath } from "./walk-path.ts";

/** A place inside the root that exists or can be created. */
export type InnerPath = Extract<PathEnd, { readonly kind: "found" | "missing" }>;

/** Returns the end of a walk. Throws if it is outside the root or below a file. */
export function checkInside({ end }: WalkedPath, path: string): InnerPath {
  switch (end.kind) {
    case "below-file":
      throw createFilesystemError(path, "below-file");
    case "outside": {
      const problem =
        "leads out of the root through a symlink. Use a path that stays inside the root.";
      throw new FilesystemError("EACCES", path, problem);
    }
    case "no-root":
      throw new FilesystemError("ENOENT", path, "cannot be reached because the root was removed");
    default:
      return end;
  }
}

/** Returns the end of a walk to an existing file or directory. Throws if it is missing. */
export function checkFound(walked: WalkedPath, path: string) {
  const end = checkInside(walked, path);
  if (end.kind === "missing") throw createFilesystemError(path, "missing");
  return end;
}

/** Walks to a directory and opens it. Throws if it is not a directory. */
export function openDirectory(root: string, path: string, at: string): PinnedFolder {
  using walked = new WalkedPath(root, at);
  const { entry, stats } = checkFound(walked, path);
  if (!stats.isDirectory()) throw createFilesystemError(path, "not-directory");
  return walked.open(entry);
}

/** Reads the file at `at`, the normalized form of `path`, up to `maxBytes`. */
export async function readHostFile(
  root: string,
  { path, at, maxBytes }: { readonly path: string; readonly at: string; readonly maxBytes: number },
): Promise<Uint8Array> {
  using walked = new WalkedPath(root, at);
  const { entry, stats } = checkFound(walked, path);
  if (entry === null || stats.isDirectory()) throw createFilesystemError(path, "directory");
  if (!stats.isFile()) throw createNotRegularError(path); // opening a device can have side effects
  const file = await openEntry(entry);
  try {
    const opened = await file.stat();
    if (!opened.isFile()) throw createNotRegularError(path);
    if (opened.size > maxBytes) throw createTooLargeError(path, opened.size, maxBytes);
    const bytes = await readOpened(file, opened);
    walked.checkInPlace();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Opens a file for reading. Neither follows a symlink nor waits for the other end of a pipe. */
async function openEntry({ folder, name }: PinnedEntry): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  return await open(folder.toPath(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/** Reads at most the size that the file had when it was opened: it may grow as fast as it is read. */
async function readOpened(file: FileHandle, { size }: Stats): Promise<Uint8Array> {
  const bytes = new Uint8Array(size === 0 ? SIZELESS_BYTES : size);
  let filled = 0;
  for (let read = 1; read > 0 && filled < bytes.length; filled += read) {
    const length = Math.min(bytes.length - filled, MAX_READ_BYTES);
    ({ bytesRead: read } = await file.read(bytes, filled, length));
  }
  return filled === bytes.length ? bytes : bytes.slice(0, filled);
}

/** How much is read of a file without a size, as in `/proc`. */
const SIZELESS_BYTES = 64 * 1024;
const MAX_READ_BYTES = 2 ** 30;

/** Creates the error for a pipe, a socket or a device. */
export function createNotRegularError(path: string): FilesystemError {
  return FilesystemError.invalid(path, "is neither a file nor a directory");
}

function createTooLargeError(path: string, size: number, maxBytes: number): FilesystemError {
  const problem = `has ${size} bytes. At most ${maxBytes} can be read at once.`;
  return new FilesystemError("EFBIG", path, problem);
}
