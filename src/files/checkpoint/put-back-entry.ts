import { randomUUID } from "node:crypto";
import { chmodSync, chownSync, closeSync, fstatSync, renameSync, rmSync } from "node:fs";
import { openNoFollow } from "../../host/file-access.ts";
import { hostCode } from "../../host/host-error.ts";
import type { CheckpointCopies } from "./copies.ts";
import { type HeldEntry, placeOfOpen } from "./held-folder.ts";
import {
  type FileRecord,
  isFresh,
  isSameOwnership,
  isSameStamp,
  type Ownership,
  ownershipOf,
  stampOf,
} from "./record.ts";

/** What came of it: how the file is to be remembered from now on. */
export interface FilePutBack {
  readonly record: FileRecord;
  readonly isChanged: boolean;
}

/** Makes a file what it was; one that has its bytes still is left in its place. */
export function putBackFile(
  at: HeldEntry,
  wanted: FileRecord,
  { copies, now }: { readonly copies: CheckpointCopies; readonly now: number },
): FilePutBack {
  const stats = at.folder.look(at.name);
  if (stats?.isFile()) {
    const stamp = stampOf(stats);
    if (!wanted.isFresh && isSameStamp(stamp, wanted.stamp)) {
      return { record: wanted, isChanged: false };
    }
    const isLikely = stamp.size === wanted.stamp.size && copies.has(wanted.copy);
    const kept = isLikely ? keepFile(at, wanted, copies) : null;
    if (kept) return remembered(kept);
  }
  return remembered({ stamp: replaceFileAt(at, wanted, copies), isChanged: true });

  function remembered({ stamp, isChanged }: Pick<FileRecord, "stamp"> & { isChanged: boolean }) {
    return { record: { ...wanted, stamp, isFresh: isFresh(stamp, now) }, isChanged };
  }
}

/** `null` if it has other bytes, or may not be read. */
function keepFile(at: HeldEntry, { copy, stamp }: FileRecord, copies: CheckpointCopies) {
  const path = at.folder.at(at.name);
  const descriptor = openToRead(path);
  if (descriptor === null) return null;
  try {
    const found = fstatSync(descriptor, { bigint: true });
    if (!copies.isCopyOf(copy, { descriptor, path, size: found.size })) return null;
    const isChanged = !isSameOwnership(ownershipOf(found), stamp);
    setOwnership(placeOfOpen(descriptor, path), { now: ownershipOf(found), wanted: stamp });
    return { stamp: stampOf(fstatSync(descriptor, { bigint: true })), isChanged };
  } finally {
    closeSync(descriptor);
  }
}

function openToRead(path: Buffer): number | null {
  try {
    return openNoFollow(path);
  } catch {
    return null; // what cannot be read can be replaced
  }
}

function replaceFileAt(at: HeldEntry, { copy, stamp }: FileRecord, copies: CheckpointCopies) {
  return putInPlace(at, (temporary, put) => {
    copies.putAt(temporary, copy, stamp.size);
    const descriptor = openNoFollow(temporary);
    try {
      const now = ownershipOf(fstatSync(descriptor, { bigint: true }));
      setOwnership(placeOfOpen(descriptor, temporary), { now, wanted: stamp });
      put();
      return stampOf(fstatSync(descriptor, { bigint: true })); // putting it there changed its inode
    } finally {
      closeSync(descriptor);
    }
  });
}

/** Lets `fill` make something beside an entry, then `put` it there, whatever is there but a folder. */
export function putInPlace<Result>(
  { folder, name }: HeldEntry,
  fill: (temporary: Buffer, put: () => void) => Result,
): Result {
  const temporary = folder.at(`.wink-${randomUUID()}.tmp`);
  try {
    return fill(temporary, () => renameSync(temporary, folder.at(name)));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Of what is at a place that nobody else can change. */
export function setOwnership(
  place: string | Buffer,
  { now, wanted }: { readonly now: Ownership; readonly wanted: Ownership },
): void {
  if (isSameOwnership(now, wanted)) return;
  if (now.uid !== wanted.uid || now.gid !== wanted.gid) {
    try {
      chownSync(place, wanted.uid, wanted.gid);
    } catch (error) {
      // Only a privileged process may give files away; for others the file becomes theirs.
      if (hostCode(error) !== "EPERM") throw error;
    }
  }
  chmodSync(place, wanted.mode); // also after a new owner, which takes away some of it
}
