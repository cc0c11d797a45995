import { type Dirent, readdirSync, type Stats } from "node:fs";
import { FilesystemError } from "../base/filesystem-error.ts";
import { hostCode, mountError } from "../host/host-error.ts";

/** What stands in a folder. `other` is a socket, a pipe or a device. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
  /** Of the thing itself: of a link that was followed, where it leads. */
  readonly hostPath: string;
}

export type EntryKind = "file" | "folder" | "link" | "other";

/** In no order; `null` if the folder is gone. `prefix` is its path and a slash. */
export function folderEntries(prefix: string, remedy: string): readonly FolderEntry[] | null {
  try {
    return entriesOf(prefix);
  } catch (error) {
    if (hostCode(error) === "ENOENT") return null;
    throw mountError(error, prefix, remedy);
  }
}

/** In the order of a walk. Throws `FilesystemError`, also if the folder is gone. */
export function entriesByPath(prefix: string, remedy: string): readonly FolderEntry[] {
  const entries = folderEntries(prefix, remedy);
  if (entries) return entries.toSorted(byPath);
  throw new FilesystemError("ENOENT", prefix, `does not exist: ${remedy}`);
}

/** In no order. Throws what this machine says. */
export function entriesOf(prefix: string): readonly FolderEntry[] {
  return readdirSync(prefix, { withFileTypes: true }).map((entry) => ({
    name: entry.name,
    kind: kindOf(entry),
    hostPath: prefix + entry.name,
  }));
}

export function kindOf(entry: Dirent | Stats): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** Sorts so that a walk meets paths in the order of their code units: `a.b` is before `a/b`. */
export function byPath(one: FolderEntry, other: FolderEntry): number {
  return sortKey(one) < sortKey(other) ? -1 : 1;
}

function sortKey({ name, kind }: FolderEntry): string {
  return kind === "folder" ? `${name}/` : name;
}
