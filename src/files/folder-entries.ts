import { type Dirent, readdirSync, type Stats } from "node:fs";
import { FilesystemError } from "../base/filesystem-error.ts";
import { toSentence } from "../base/to-sentence.ts";
import { PinnedFolder } from "../host/pinned-folder.ts";
import { getErrorCode, toFilesystemErrorWithRemedy } from "../host/to-filesystem-error.ts";

/** An entry of a folder. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
  /** The entry's path on the host. For a followed symlink, the path of its target. */
  readonly hostPath: string;
}

/** The kind of a folder entry. `other` is a socket, a pipe or a device. */
export type EntryKind = "file" | "folder" | "link" | "other";

/** Reads the entries of a folder, unsorted. Returns `null` if the folder does not exist. `prefix` is its path and a slash. */
export function readFolderEntries(prefix: string, remedy: string): readonly FolderEntry[] | null {
  try {
    return listEntries(prefix);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return null;
    throw toFilesystemErrorWithRemedy(error, prefix, remedy);
  }
}

/** Reads the entries of a folder in {@link compareByPath} order. Throws `FilesystemError`, also if the folder does not exist. */
export function readSortedEntries(prefix: string, remedy: string): readonly FolderEntry[] {
  const entries = readFolderEntries(prefix, remedy);
  if (entries) return entries.toSorted(compareByPath);
  throw new FilesystemError("ENOENT", prefix, `does not exist. ${toSentence(remedy)}`);
}

/**
 * Pins a folder, so that the entries below it stay the same if it is replaced with a symlink. `place` is a path to it,
 * and `hostPath` is its path for messages. Throws `FilesystemError`.
 */
export function enterFolder(place: string, hostPath: string, remedy: string): PinnedFolder {
  try {
    return PinnedFolder.pin(Buffer.from(place));
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, hostPath, remedy);
  }
}

/** Reads the entries of a folder, unsorted. Throws Node's error. */
export function listEntries(prefix: string): readonly FolderEntry[] {
  return readdirSync(prefix, { withFileTypes: true }).map((entry) => ({
    name: entry.name,
    kind: toEntryKind(entry),
    hostPath: prefix + entry.name,
  }));
}

/** Returns the kind of a folder entry. */
export function toEntryKind(entry: Dirent | Stats): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** Compares entries so that a recursive walk visits paths in code unit order: `a.b` before `a/b`. */
export function compareByPath(one: FolderEntry, other: FolderEntry): number {
  return toSortKey(one) < toSortKey(other) ? -1 : 1;
}

function toSortKey({ name, kind }: FolderEntry): string {
  return kind === "folder" ? `${name}/` : name;
}
