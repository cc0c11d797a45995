import { Buffer } from "node:buffer";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { RecordWriter } from "../session/session-store.ts";
import { openSessionFile } from "./open-session-file.ts";
import { RecordLines } from "./record-lines.ts";
import {
  createLockedError,
  createOutdatedError,
  isMissing,
  toSessionFileError,
} from "./session-file-errors.ts";
import { acquireLock, type SessionFileLock } from "./session-file-lock.ts";
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

/** Options of a {@link SessionFile}. */
export interface SessionFileOptions {
  readonly paths: SessionPaths;
  readonly clock: Clock;
  /** Called before an incomplete record is removed. */
  readonly onTruncated: (cut: SessionTruncated) => void;
}

/**
 * Writes a session's file. Operations run in the order of the calls. Between writes it holds
 * the lock but no open file, because a store may have very many sessions.
 */
export class SessionFile {
  readonly #paths: SessionPaths;
  readonly #clock: Clock;
  readonly #onTruncated: (cut: SessionTruncated) => void;
  /** Lines that may be written together. A removal starts a new queue. */
  #queue: Entry[] = [];
  /** Writers that were rejected or superseded, or whose records could not be written. */
  readonly #retired = new WeakSet<object>();
  #writer: object | undefined;
  #locked: LockedFile | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor({ paths, clock, onTruncated }: SessionFileOptions) {
    this.#paths = paths;
    this.#clock = clock;
    this.#onTruncated = onTruncated;
  }

  /** Whether this object holds the lock and may be writing. */
  get isLocked(): boolean {
    return this.#locked !== null;
  }

  /**
   * Appends a line. Resolves when it is on disk. Lines that arrive during a write are written
   * together.
   */
  append(line: Buffer, by: RecordWriter | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#queue;
    queue.push({ line, by, resolve, reject });
    this.#work = this.#work.then(() => this.#drain(queue));
    return promise;
  }

  /** Deletes the file. Later writes of its previous writer are rejected. */
  async remove(): Promise<void> {
    this.#queue = [];
    const removed = this.#work.then(async () => {
      try {
        await this.#acquire();
        await unlink(this.#paths.file);
      } finally {
        await this.#release();
      }
    });
    this.#work = removed.catch(() => {}); // the caller handles the error
    await removed;
  }

  /** Waits for pending writes and releases the lock. */
  async close(): Promise<void> {
    this.#work = this.#work.then(() => this.#release());
    await this.#work;
  }

  /** Releases the lock synchronously, when the process exits. */
  releaseNow(): void {
    this.#locked?.lock.releaseNow();
  }

  async #drain(queue: Entry[]): Promise<void> {
    if (queue.length === 0) return; // already written with an earlier batch
    await setImmediate(); // collects lines that are appended together
    let batch: readonly Entry[] = [];
    try {
      const locked = await this.#acquire();
      batch = queue.splice(0);
      await this.#write(batch, locked);
    } catch (error) {
      await this.#release();
      this.#rejectAll([...batch, ...queue.splice(0)], error);
    }
  }

  /** Acquires the lock and finds the end of the last complete record. Both are then retained. */
  async #acquire(): Promise<LockedFile> {
    if (this.#locked) return this.#locked;
    const lock = await acquireLock(this.#paths.lock, this.#clock);
    if (!("release" in lock)) throw createLockedError(lock, this.#paths.id);
    const locked: LockedFile = { lock, records: 0, end: 0 };
    this.#locked = locked;
    const file = await openForWriting(this.#paths.file);
    if (!file) return locked;
    await using _closed = file;
    const lines = new RecordLines(file, (await file.stat()).size);
    await lines.skipAll();
    [locked.records, locked.end] = [lines.count, lines.end];
    if (lines.size > lines.end) await this.#truncate(file, lines);
    return locked;
  }

  async #truncate(file: FileHandle, { count, end, size }: RecordLines): Promise<void> {
    const { id, file: path } = this.#paths;
    this.#onTruncated({ sessionId: id, path, records: count, bytes: size - end });
    await file.truncate(end);
    await file.sync();
  }

  async #write(batch: readonly Entry[], locked: LockedFile): Promise<void> {
    const admitted = batch.filter((entry) => this.#admit(entry, locked));
    if (admitted.length === 0) return;
    await using file = await openSessionFile(this.#paths.file, "append");
    const { size } = await file.stat();
    // Another program has ignored the lock.
    if (size !== locked.end) throw createOutdatedError(this.#paths.id);
    const lines = Buffer.concat(admitted.map(({ line }) => line));
    await appendAll(file, lines, size);
    if (size === 0) await syncFolder(dirname(this.#paths.file));
    locked.end += lines.length;
    for (const { resolve } of admitted) resolve();
  }

  /** Rejects a writer with outdated data, and its later writes. */
  #admit({ by, reject }: Entry, locked: LockedFile): boolean {
    const writer = by?.writer;
    if (by && (this.#retired.has(by.writer) || !this.#mayWrite(by, locked))) {
      this.#retired.add(by.writer);
      reject(createOutdatedError(this.#paths.id));
      return false;
    }
    if (this.#writer && this.#writer !== writer) this.#retired.add(this.#writer);
    this.#writer = writer;
    locked.records += 1;
    return true;
  }

  #mayWrite({ writer, position }: RecordWriter, locked: LockedFile): boolean {
    return writer === this.#writer || position === locked.records;
  }

  /** Rejects all lines sent before the failure was known: writing them later would leave a gap. */
  #rejectAll(entries: readonly Entry[], error: unknown): void {
    const failure = toSessionFileError(error, this.#paths, "written");
    for (const { by, reject } of entries) {
      if (by) this.#retired.add(by.writer);
      reject(failure);
    }
  }

  async #release(): Promise<void> {
    const locked = this.#locked;
    this.#locked = null;
    if (this.#writer) this.#retired.add(this.#writer);
    this.#writer = undefined;
    await locked?.lock.release().catch(() => {}); // the lock becomes invalid when this process exits
  }
}

interface Entry {
  readonly line: Buffer;
  readonly by: RecordWriter | undefined;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface LockedFile {
  readonly lock: SessionFileLock;
  /** Number of records. */
  records: number;
  /** Size of the records in bytes. */
  end: number;
}

async function openForWriting(path: string): Promise<FileHandle | null> {
  try {
    return await openSessionFile(path, "change");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Appends with one write and one fsync. Removes a partial write, if the disk allows. */
async function appendAll(file: FileHandle, lines: Buffer, size: number): Promise<void> {
  try {
    await file.appendFile(lines);
    await file.datasync();
  } catch (error) {
    await file.truncate(size).catch(() => {}); // otherwise the next writer removes it
    throw error;
  }
}

/** Syncs the folder, because a new file's name is not durable otherwise. */
async function syncFolder(path: string): Promise<void> {
  try {
    await using folder = await open(path, "r");
    await folder.sync();
  } catch {
    // Some systems cannot sync a folder. The file itself is safe.
  }
}
