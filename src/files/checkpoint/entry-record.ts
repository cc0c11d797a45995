import { type BigIntStats, constants } from "node:fs";
import { deserialize, serialize } from "node:v8";
import type { EntryKind } from "../folder-entries.ts";

/** The recorded state of one folder entry. */
export type EntryRecord = FolderRecord | FileRecord | LinkRecord | OtherRecord;

/** The recorded state of a folder. */
export interface FolderRecord extends Ownership {
  readonly kind: "folder";
  /** The entries by name. Names have one character per byte, as in `PinnedFolder`. */
  readonly entries: ReadonlyMap<string, EntryRecord>;
}

/** The recorded state of a file. */
export interface FileRecord {
  readonly kind: "file";
  readonly stamp: FileStamp;
  /** Whether the file was changed so recently that another change might not alter its stamp. */
  readonly isFresh: boolean;
  /** The name of the copy with its bytes. */
  readonly copy: string;
}

/** The recorded state of a symlink. */
export interface LinkRecord {
  readonly kind: "link";
  /** The target, with one character per byte. */
  readonly target: string;
}

/** The recorded state of a pipe, a socket or a device. It is never opened. */
export interface OtherRecord {
  readonly kind: "other";
  readonly type: bigint;
}

/** The owner and permissions of an entry. */
export interface Ownership {
  /** The permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Identifies a version of a file. Files with equal stamps are unchanged, because the inode's change time cannot be set. */
export interface FileStamp extends Ownership {
  readonly size: bigint;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
  readonly inode: bigint;
}

/** Returns the stamp of a file. */
export function toStamp(stats: BigIntStats): FileStamp {
  const { size, mtimeNs: modifiedNs, ctimeNs: changedNs, ino: inode } = stats;
  return { size, modifiedNs, changedNs, inode, ...toOwnership(stats) };
}

/** Returns the owner and permissions of an entry. */
export function toOwnership({ mode, uid, gid }: BigIntStats): Ownership {
  return { mode: Number(mode & PERMISSIONS), uid: Number(uid), gid: Number(gid) };
}

/** Whether two stamps are equal. */
export function isSameStamp(one: FileStamp, other: FileStamp): boolean {
  return (
    one.changedNs === other.changedNs &&
    one.modifiedNs === other.modifiedNs &&
    one.inode === other.inode &&
    one.size === other.size &&
    isSameOwnership(one, other)
  );
}

/** Whether two owners and permissions are equal. */
export function isSameOwnership(one: Ownership, other: Ownership): boolean {
  return one.mode === other.mode && one.uid === other.uid && one.gid === other.gid;
}

/** Whether a file was changed within the last clock tick of any disk. `now` is the time before the stamp was read, in milliseconds since 1970. */
export function isFresh({ changedNs, modifiedNs }: FileStamp, now: number): boolean {
  const latest = changedNs > modifiedNs ? changedNs : modifiedNs;
  return latest >= BigInt(Math.floor(now) - COARSEST_TICK_MS) * NANOSECONDS_PER_MS;
}

/** FAT has a resolution of 2 seconds; 1 or 10 milliseconds are common. */
const COARSEST_TICK_MS = 2_000;
const NANOSECONDS_PER_MS = 1_000_000n;
const PERMISSIONS = 0o7777n;
const TYPE = BigInt(constants.S_IFMT);

/** Returns the kind of an entry. */
export function toRecordKind(stats: BigIntStats): EntryKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "other";
}

/** Returns the file type bits of a mode, to distinguish pipes, sockets and devices. */
export const getModeType = ({ mode }: BigIntStats): bigint => mode & TYPE;

/** Serializes a tree to bytes, which are transferred between threads faster than objects. */
export function serializeRecords(root: FolderRecord): Uint8Array {
  return serialize(root);
}

/** Deserializes the bytes of {@link serializeRecords}. They must come from this process. */
export function deserializeRecords(packed: Uint8Array): FolderRecord {
  return deserialize(packed) as FolderRecord;
}

/** Lists all copies below a folder by name. */
export function listCopies(folder: FolderRecord, found = new Set<string>()): Set<string> {
  for (const entry of folder.entries.values()) {
    if (entry.kind === "file") found.add(entry.copy);
    else if (entry.kind === "folder") listCopies(entry, found);
  }
  return found;
}
