import type { FileHandle } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { acquireLock, type FileLock } from "../host/file-lock.ts";
import { openSessionFile } from "./open-session-file.ts";
import { raiseFence } from "./raise-fence.ts";
import { readHolder } from "./read-holder.ts";
import { RecordLines } from "./record-lines.ts";
import { createHeldError, isMissing } from "./session-file-errors.ts";
import type { SessionPaths } from "./session-file-name.ts";

/** A session file that ends within a record, because its writer was interrupted. */
export interface SessionTruncated {
  /** Id of the session. */
  readonly sessionId: string;
  /** Path of the file. */
  readonly path: string;
  /** Number of complete records. The session continues from them. */
  readonly records: number;
  /** Number of bytes after them. They are removed just before the next record is written. */
  readonly bytes: number;
}

/** The right to write a session's file, and the facts known about the file. */
export interface FileHold {
  readonly lock: FileLock;
  readonly fence: number;
  readonly owner: string;
  /** When it began, in ISO 8601. */
  readonly since: string;
  /** Number of records. */
  records: number;
  /** Size of the records in bytes. */
  end: number;
}

/** Options of {@link holdSessionFile}. */
export interface HoldOptions {
  readonly paths: SessionPaths;
  readonly clock: Clock;
  readonly owner: string;
  /** The last hold in this process. Its numbers are still right if no other came after it. */
  readonly last: FileHold | null;
  /** Called before an incomplete record is removed. */
  readonly onTruncated: (cut: SessionTruncated) => void;
}

/**
 * Acquires a session's lock, raises its fence and finds the end of its last complete record. Throws
 * `SessionStoreError` with the owner if another writer has the lock.
 */
export async function holdSessionFile(options: HoldOptions): Promise<FileHold> {
  const { paths, clock, owner, last } = options;
  const now = clock.now();
  const since = new Date(now).toISOString();
  const lock = await acquireLock(paths.lock, clock, JSON.stringify({ owner, since }));
  if (!("release" in lock)) throw createHeldError(paths.id, await readHolder(lock));
  try {
    const { fence, before } = await raiseFence(paths.claim, now);
    const isKnown = last !== null && last.fence === before;
    const { records, end } = isKnown ? last : await findEnd(options);
    return { lock, fence, owner, since, records, end };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function findEnd({ paths, onTruncated }: HoldOptions) {
  const file = await openForWriting(paths.file);
  if (!file) return { records: 0, end: 0 };
  await using _closed = file;
  const lines = new RecordLines(file, (await file.stat()).size);
  await lines.skipAll();
  const { count: records, end, size } = lines;
  if (size > end) {
    onTruncated({ sessionId: paths.id, path: paths.file, records, bytes: size - end });
    await file.truncate(end);
    await file.sync();
  }
  return { records, end };
}

async function openForWriting(path: string): Promise<FileHandle | null> {
  try {
    return await openSessionFile(path, "change");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
