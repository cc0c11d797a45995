import { randomUUID } from "node:crypto";
import { chmodSync, chownSync, closeSync, fstatSync, renameSync, rmSync } from "node:fs";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { type PinnedEntry, toDescriptorPath } from "../../host/pinned-folder.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import type { CheckpointCopies } from "./checkpoint-copies.ts";
import {
  type FileRecord,
  isFresh,
  isSameOwnership,
  isSameStamp,
  type Ownership,
  toOwnership,
  toStamp,
} from "./entry-record.ts";

/** The result of restoring a file: its new record, and whether it was changed. */
export interface RestoredFile {
  readonly record: FileRecord;
  readonly isChanged: boolean;
}

/** Restores a file. Does not replace a file that still has the captured bytes. */
export function restoreFile(
  at: PinnedEntry,
  wanted: FileRecord,
  { copies, now }: { readonly copies: CheckpointCopies; readonly now: number },
): RestoredFile {
  const stats = at.folder.lstat(at.name);
  if (stats?.isFile()) {
    const stamp = toStamp(stats);
    if (!wanted.isFresh && isSameStamp(stamp, wanted.stamp)) {
      return { record: wanted, isChanged: false };
    }
    const isLikely = stamp.size === wanted.stamp.size && copies.has(wanted.copy);
    const kept = isLikely ? keepContent(at, wanted, copies) : null;
    if (kept) return toRestoredFile(kept);
  }
  return toRestoredFile({ stamp: rewriteFile(at, wanted, copies), isChanged: true });

  function toRestoredFile({
    stamp,
    isChanged,
  }: Pick<FileRecord, "stamp"> & { isChanged: boolean }) {
    return { record: { ...wanted, stamp, isFresh: isFresh(stamp, now) }, isChanged };
  }
}

/** Restores only the owner and mode. Returns `null` if the file has other bytes or cannot be read. */
function keepContent(at: PinnedEntry, { copy, stamp }: FileRecord, copies: CheckpointCopies) {
  const path = at.folder.toPath(at.name);
  const descriptor = tryOpen(path);
  if (descriptor === null) return null;
  try {
    const found = fstatSync(descriptor, { bigint: true });
    if (!copies.hasSameBytes(copy, { descriptor, path, size: found.size })) return null;
    const isChanged = !isSameOwnership(toOwnership(found), stamp);
    setOwnership(toDescriptorPath(descriptor, path), { now: toOwnership(found), wanted: stamp });
    return { stamp: toStamp(fstatSync(descriptor, { bigint: true })), isChanged };
  } finally {
    closeSync(descriptor);
  }
}

function tryOpen(path: Buffer): number | null {
  try {
    return openNoFollow(path);
  } catch {
    return null; // an unreadable file can still be replaced
  }
}

function rewriteFile(at: PinnedEntry, { copy, stamp }: FileRecord, copies: CheckpointCopies) {
  return replaceAtomically(at, (temporary, put) => {
    copies.writeTo(temporary, copy, stamp.size);
    const descriptor = openNoFollow(temporary);
    try {
      const now = toOwnership(fstatSync(descriptor, { bigint: true }));
      setOwnership(toDescriptorPath(descriptor, temporary), { now, wanted: stamp });
      put();
      return toStamp(fstatSync(descriptor, { bigint: true })); // the rename changed the inode's times
    } finally {
      closeSync(descriptor);
    }
  });
}

/** Lets `fill` create a temporary entry and move it into place with `put`, replacing any existing entry except a folder. */
export function replaceAtomically<Result>(
  { folder, name }: PinnedEntry,
  fill: (temporary: Buffer, put: () => void) => Result,
): Result {
  const temporary = folder.toPath(`.wink-${randomUUID()}.tmp`);
  try {
    return fill(temporary, () => renameSync(temporary, folder.toPath(name)));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Sets the owner and mode. `place` must be a path that other processes cannot redirect. */
export function setOwnership(
  place: string | Buffer,
  { now, wanted }: { readonly now: Ownership; readonly wanted: Ownership },
): void {
  if (isSameOwnership(now, wanted)) return;
  if (now.uid !== wanted.uid || now.gid !== wanted.gid) {
    try {
      chownSync(place, wanted.uid, wanted.gid);
    } catch (error) {
      // Only a privileged process may change the owner; otherwise the file belongs to this user.
      if (getErrorCode(error) !== "EPERM") throw error;
    }
  }
  chmodSync(place, wanted.mode); // always after chown, which clears some mode bits
}
