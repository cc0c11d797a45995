import { type BigIntStats, constants } from "node:fs";
import { deserialize, serialize } from "node:v8";
import type { EntryKind } from "../folder-entries.ts";

/** What a checkpoint remembers of one entry of a folder. */
export type EntryRecord = FolderRecord | FileRecord | LinkRecord | OtherRecord;

export interface FolderRecord extends Ownership {
  readonly kind: "folder";
  /** By name: see `HeldFolder` for what a name is. */
  readonly entries: ReadonlyMap<string, EntryRecord>;
}

export interface FileRecord {
  readonly kind: "file";
  readonly stamp: FileStamp;
  /** It was changed so shortly before that a further change may have left its stamp as it is. */
  readonly isFresh: boolean;
  /** The name of the copy of its bytes. */
  readonly copy: string;
}

export interface LinkRecord {
  readonly kind: "link";
  /** Its bytes, one character each. */
  readonly target: string;
}

/** A pipe, a socket or a device: it is known to be there, and never opened. */
export interface OtherRecord {
  readonly kind: "other";
  readonly type: bigint;
}

export interface Ownership {
  /** Permissions only. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** As long as all of it is the same, a file is: nobody can set back when its inode last changed. */
export interface FileStamp extends Ownership {
  readonly size: bigint;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
  readonly inode: bigint;
}

export function stampOf(stats: BigIntStats): FileStamp {
  const { size, mtimeNs: modifiedNs, ctimeNs: changedNs, ino: inode } = stats;
  return { size, modifiedNs, changedNs, inode, ...ownershipOf(stats) };
}

export function ownershipOf({ mode, uid, gid }: BigIntStats): Ownership {
  return { mode: Number(mode & PERMISSIONS), uid: Number(uid), gid: Number(gid) };
}

export function isSameStamp(one: FileStamp, other: FileStamp): boolean {
  return (
    one.changedNs === other.changedNs &&
    one.modifiedNs === other.modifiedNs &&
    one.inode === other.inode &&
    one.size === other.size &&
    isSameOwnership(one, other)
  );
}

export function isSameOwnership(one: Ownership, other: Ownership): boolean {
  return one.mode === other.mode && one.uid === other.uid && one.gid === other.gid;
}

/** `now` is before the file was looked at, in milliseconds since 1970. */
export function isFresh({ changedNs, modifiedNs }: FileStamp, now: number): boolean {
  const latest = changedNs > modifiedNs ? changedNs : modifiedNs;
  return latest >= BigInt(Math.floor(now) - COARSEST_TICK) * NANOSECONDS;
}

/** FAT counts in two seconds; a millisecond or a hundredth of a second is common. */
const COARSEST_TICK = 2_000;
const NANOSECONDS = 1_000_000n;
const PERMISSIONS = 0o7777n;
const TYPE = BigInt(constants.S_IFMT);

export function kindOf(stats: BigIntStats): EntryKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "other";
}

/** Which of the things that are neither file, folder nor link it is. */
export const typeOf = ({ mode }: BigIntStats): bigint => mode & TYPE;

/** A tree in one piece, which crosses threads without a look at each entry. */
export function packRecords(root: FolderRecord): Uint8Array {
  return serialize(root);
}

/** What `packRecords` made; it never left this process. */
export function unpackRecords(packed: Uint8Array): FolderRecord {
  return deserialize(packed) as FolderRecord;
}

/** The names of all copies below a folder. */
export function copiesOf(folder: FolderRecord, found = new Set<string>()): Set<string> {
  for (const entry of folder.entries.values()) {
    if (entry.kind === "file") found.add(entry.copy);
    else if (entry.kind === "folder") copiesOf(entry, found);
  }
  return found;
}
