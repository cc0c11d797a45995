import { Buffer } from "node:buffer";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { RecordWriter } from "../session/session-store.ts";
import { RecordLines } from "./record-lines.ts";
import { fileError, heldBy, isMissing, overtaken } from "./session-file-errors.ts";
import { type SessionFileLock, takeLock } from "./session-file-lock.ts";
import type { SessionPaths } from "./session-file-name.ts";

/** A session's file ended within a record: whoever wrote it was stopped while writing. */
export interface SessionTruncated {
  readonly sessionId: string;
  readonly path: string;
  /** Whole records before the cut: what the session goes on from. */
  readonly records: number;
  /** Bytes behind them. They are removed before the next record is written, and not before. */
  readonly bytes: number;
}

/** What a `SessionFile` is made from. */
export interface SessionFileOptions {
  readonly paths: SessionPaths;
  readonly clock: Clock;
  /** Hears of a cut tail before it is removed. */
  readonly onCut: (cut: SessionTruncated) => void;
}

/**
 * The file of one session, for the one who writes it. What is asked of it is done in that order.
 * Between writes it holds the lock and no open file: a store may have very many sessions.
 */
export class SessionFile {
  readonly #paths: SessionPaths;
  readonly #clock: Clock;
  readonly #onCut: (cut: SessionTruncated) => void;
  /** Lines that may be written together: a removal starts another list. */
  #queue: Entry[] = [];
  /** Writers that were refused or overtaken, or whose records could not be written. */
  readonly #retired = new WeakSet<object>();
  #writer: object | undefined;
  #held: Held | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor({ paths, clock, onCut }: SessionFileOptions) {
    this.#paths = paths;
    this.#clock = clock;
    this.#onCut = onCut;
  }

  /** Whether it may be in the midst of a write. */
  get isHeld(): boolean {
    return this.#held !== null;
  }

  /** Resolves once the line is on the disk. Lines that come meanwhile are written together. */
  append(line: Buffer, by: RecordWriter | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#queue;
    queue.push({ line, by, resolve, reject });
    this.#work = this.#work.then(() => this.#drain(queue));
    return promise;
  }

  /** Removes the file; whoever wrote it cannot go on. */
  async remove(): Promise<void> {
    this.#queue = [];
    const removed = this.#work.then(async () => {
      try {
        await this.#hold();
        await unlink(this.#paths.file);
      } finally {
        await this.#letGo();
      }
    });
    this.#work = removed.catch(() => {}); // it is this call that rejects
    await removed;
  }

  /** Waits for what is to be written, and lets others write. */
  async close(): Promise<void> {
    this.#work = this.#work.then(() => this.#letGo());
    await this.#work;
  }

  /** For the end of the process. */
  releaseNow(): void {
    this.#held?.lock.releaseNow();
  }

  async #drain(queue: Entry[]): Promise<void> {
    if (queue.length === 0) return; // it was written with an earlier one
    await setImmediate(); // what is sent in one go is written in one go
    let batch: readonly Entry[] = [];
    try {
      const held = await this.#hold();
      batch = queue.splice(0);
      await this.#write(batch, held);
    } catch (error) {
      await this.#letGo();
      this.#refuse([...batch, ...queue.splice(0)], error);
    }
  }

  /** Takes the lock and reads how far the file is whole; both are known from then on. */
  async #hold(): Promise<Held> {
    if (this.#held) return this.#held;
    const lock = await takeLock(this.#paths.lock, this.#clock);
    if (!("release" in lock)) throw heldBy(lock, this.#paths.id);
    const held: Held = { lock, records: 0, end: 0 };
    this.#held = held;
    const file = await openIfThere(this.#paths.file);
    if (!file) return held;
    await using _closed = file;
    const lines = new RecordLines(file);
    for await (const _line of lines);
    [held.records, held.end] = [lines.count, lines.end];
    if (lines.size > lines.end) await this.#cut(file, lines);
    return held;
  }

  async #cut(file: FileHandle, { count, end, size }: RecordLines): Promise<void> {
    const { id, file: path } = this.#paths;
    this.#onCut({ sessionId: id, path, records: count, bytes: size - end });
    await file.truncate(end);
    await file.sync();
  }

  async #write(batch: readonly Entry[], held: Held): Promise<void> {
    const admitted = batch.filter((entry) => this.#admit(entry, held));
    if (admitted.length === 0) return;
    await using file = await open(this.#paths.file, "a");
    const { size } = await file.stat();
    if (size !== held.end) throw overtaken(this.#paths.id); // by one who heeds no lock
    const lines = Buffer.concat(admitted.map(({ line }) => line));
    await appendWhole(file, lines, size);
    if (size === 0) await syncFolder(dirname(this.#paths.file));
    held.end += lines.length;
    for (const { resolve } of admitted) resolve();
  }

  /** Refuses a writer that does not know all records there are, and then all else it sends. */
  #admit({ by, reject }: Entry, held: Held): boolean {
    const writer = by?.writer;
    if (by && (this.#retired.has(by.writer) || !this.#mayWrite(by, held))) {
      this.#retired.add(by.writer);
      reject(overtaken(this.#paths.id));
      return false;
    }
    if (this.#writer && this.#writer !== writer) this.#retired.add(this.#writer);
    this.#writer = writer;
    held.records += 1;
    return true;
  }

  #mayWrite({ writer, position }: RecordWriter, held: Held): boolean {
    return writer === this.#writer || position === held.records;
  }

  /** All that was sent before the failure could be told: to write it later would leave a gap. */
  #refuse(entries: readonly Entry[], error: unknown): void {
    const failure = fileError(error, this.#paths, "written");
    for (const { by, reject } of entries) {
      if (by) this.#retired.add(by.writer);
      reject(failure);
    }
  }

  async #letGo(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (this.#writer) this.#retired.add(this.#writer);
    this.#writer = undefined;
    await held?.lock.release().catch(() => {}); // it is void when this process ends
  }
}

interface Entry {
  readonly line: Buffer;
  readonly by: RecordWriter | undefined;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Held {
  readonly lock: SessionFileLock;
  /** How many records there are. */
  records: number;
  /** How many bytes they are. */
  end: number;
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** One write, one fsync. What could not be written whole is taken back, as far as the disk lets us. */
async function appendWhole(file: FileHandle, lines: Buffer, size: number): Promise<void> {
  try {
    await file.appendFile(lines);
    await file.datasync();
  } catch (error) {
    await file.truncate(size).catch(() => {}); // then it is cut off by who opens the file next
    throw error;
  }
}

/** A new file's name is on the disk only when its folder is. */
async function syncFolder(path: string): Promise<void> {
  try {
    await using folder = await open(path, "r");
    await folder.sync();
  } catch {
    // some systems cannot do this to a folder; the file itself is safe
  }
}
