import { Buffer } from "node:buffer";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { RecordWriter, SessionClaim } from "../session/session-store.ts";
import { writeCheckpointFile } from "./checkpoint-file.ts";
import { getClaimOwner } from "./claim-owner.ts";
import { type FileHold, holdSessionFile, type SessionTruncated } from "./hold-session-file.ts";
import { openSessionFile } from "./open-session-file.ts";
import {
  createHeldError,
  createLostClaimError,
  createOutdatedError,
  isMissing,
  toSessionFileError,
} from "./session-file-errors.ts";
import type { SessionPaths } from "./session-file-name.ts";

/** Options of a {@link SessionFile}. */
export interface SessionFileOptions {
  readonly paths: SessionPaths;
  readonly clock: Clock;
  /** Called before an incomplete record is removed. */
  readonly onTruncated: (cut: SessionTruncated) => void;
}

/**
 * Writes a session's file. Operations run in the order of the calls. A write without a claim holds the
 * file briefly. No file is open between writes, because a store may have very many sessions.
 */
export class SessionFile {
  readonly #options: SessionFileOptions;
  readonly #paths: SessionPaths;
  /** Lines that may be written together. A claim, its end and a removal start a new queue. */
  #queue: Entry[] = [];
  /** Writers that were rejected or superseded, or whose records could not be written. */
  readonly #retired = new WeakSet<object>();
  #writer: object | undefined;
  /** The current claim. */
  #claimed: FileHold | null = null;
  /** A hold for one operation. */
  #brief: FileHold | null = null;
  /** The last hold whose numbers are right, if no other came after it. */
  #last: FileHold | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor(options: SessionFileOptions) {
    this.#options = options;
    this.#paths = options.paths;
  }

  /** Whether this object holds the lock and may be writing. */
  get isLocked(): boolean {
    return (this.#claimed ?? this.#brief) !== null;
  }

  /** Claims the session for one writer, until it is released. */
  claim(owner: string): Promise<SessionClaim> {
    return this.#enqueue(async () => {
      if (this.#claimed) throw createHeldError(this.#paths.id, this.#claimed);
      const held = await this.#hold(owner);
      this.#claimed = held;
      const { fence, since, records } = held;
      const release = () =>
        this.#enqueue(async () => {
          if (this.#claimed === held) await this.#release();
        });
      return { fence, owner, since, records, release };
    });
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

  /** Replaces the checkpoint. */
  writeCheckpoint(text: Buffer, by: RecordWriter | undefined): Promise<void> {
    return this.#runHeld(by?.fence, async (held) => {
      if (by && by.position !== held.records) throw createOutdatedError(this.#paths.id);
      await writeCheckpointFile(this.#paths, text);
    });
  }

  /** Deletes the session's files. Later writes of its previous writer are rejected. */
  remove(): Promise<void> {
    return this.#runHeld(undefined, async () => {
      const { file, checkpoint, newCheckpoint, claim } = this.#paths;
      this.#retireWriter();
      this.#last = null;
      // The checkpoint goes first: a crash must not leave it to another session with this id.
      for (const path of [newCheckpoint, checkpoint, file, claim]) {
        await unlink(path).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        });
      }
    });
  }

  /** Waits for pending writes and ends the claim. */
  close(): Promise<void> {
    return this.#enqueue(() => this.#release());
  }

  /** Releases the lock synchronously, when the process exits. */
  releaseNow(): void {
    (this.#claimed ?? this.#brief)?.lock.releaseNow();
  }

  /** Runs work after everything before it. Lines that are appended later wait for it. */
  #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#queue = [];
    const done = this.#work.then(work);
    this.#work = done.then(
      () => {},
      () => {}, // the caller handles the error
    );
    return done;
  }

  /** Runs work with the claim of this fence or, without a fence, with a brief hold. */
  #runHeld(fence: number | undefined, work: (held: FileHold) => Promise<void>): Promise<void> {
    return this.#enqueue(async () => {
      const problem = this.#findClaimProblem(fence);
      if (problem) throw problem;
      const held = this.#claimed ?? (await this.#holdBriefly());
      try {
        await this.#checkLock(held);
        await work(held);
      } finally {
        if (held === this.#brief) await this.#release();
      }
    });
  }

  async #drain(queue: Entry[]): Promise<void> {
    if (queue.length === 0) return; // already written with an earlier batch
    await setImmediate(); // collects lines that are appended together
    let batch: readonly Entry[] = [];
    try {
      const isHeld = this.#claimed || queue.every(({ by }) => by?.fence !== undefined);
      if (!isHeld) await this.#holdBriefly();
      batch = queue.splice(0);
      const written = await this.#write(batch);
      if (this.#brief) await this.#release();
      for (const { resolve } of written) resolve();
    } catch (error) {
      this.#last = null;
      await this.#release({ isKnown: false });
      this.#rejectAll([...batch, ...queue.splice(0)], error);
    }
  }

  /** Writes the lines of the admitted entries, and returns these. */
  async #write(batch: readonly Entry[]): Promise<readonly Entry[]> {
    const held = this.#claimed ?? this.#brief;
    const admitted = batch.filter((entry) => this.#admit(entry, held));
    if (!held || admitted.length === 0) return [];
    await this.#checkLock(held);
    await using file = await openSessionFile(this.#paths.file, "append");
    const { size } = await file.stat();
    // Another program has ignored the lock.
    if (size !== held.end) throw createOutdatedError(this.#paths.id);
    const lines = Buffer.concat(admitted.map(({ line }) => line));
    await appendAll(file, lines, size);
    if (size === 0) await syncFolder(dirname(this.#paths.file));
    held.end += lines.length;
    return admitted;
  }

  /** Rejects a writer with outdated data or without the claim, and its later writes. */
  #admit({ by, reject }: Entry, held: FileHold | null): boolean {
    const problem = this.#findClaimProblem(by?.fence) ?? this.#findWriterProblem(by, held);
    if (problem) {
      if (by) this.#retired.add(by.writer);
      reject(problem);
      return false;
    }
    if (this.#writer !== by?.writer) this.#retireWriter();
    this.#writer = by?.writer;
    if (held) held.records += 1;
    return true;
  }

  #findClaimProblem(fence: number | undefined): Error | null {
    if (fence === this.#claimed?.fence) return null;
    const { id } = this.#paths;
    return fence === undefined && this.#claimed
      ? createHeldError(id, this.#claimed)
      : createLostClaimError(id);
  }

  #findWriterProblem(by: RecordWriter | undefined, held: FileHold | null): Error | null {
    if (!by) return null;
    const isCurrent = by.writer === this.#writer || by.position === held?.records;
    return isCurrent && !this.#retired.has(by.writer) ? null : createOutdatedError(this.#paths.id);
  }

  /** Throws if another process has taken the lock away. */
  async #checkLock({ lock }: FileHold): Promise<void> {
    if (!(await lock.isHeld())) throw createLostClaimError(this.#paths.id);
  }

  async #hold(owner: string): Promise<FileHold> {
    const held = await holdSessionFile({ ...this.#options, owner, last: this.#last });
    // Others have written, so the writer no longer knows all records.
    if (held.records !== this.#last?.records) this.#retireWriter();
    this.#last = held;
    return held;
  }

  async #holdBriefly(): Promise<FileHold> {
    this.#brief = await this.#hold(getClaimOwner());
    return this.#brief;
  }

  #retireWriter(): void {
    if (this.#writer) this.#retired.add(this.#writer);
    this.#writer = undefined;
  }

  /** Rejects all lines sent before the failure was known: writing them later would leave a gap. */
  #rejectAll(entries: readonly Entry[], error: unknown): void {
    const failure = toSessionFileError(error, this.#paths, "written");
    for (const { by, reject } of entries) {
      if (by) this.#retired.add(by.writer);
      reject(failure);
    }
  }

  async #release({ isKnown }: { readonly isKnown: boolean } = { isKnown: true }): Promise<void> {
    const held = this.#claimed ?? this.#brief;
    this.#claimed = null;
    this.#brief = null;
    if (!isKnown) this.#retireWriter();
    await held?.lock.release().catch(() => {}); // the lock becomes invalid when this process exits
  }
}

interface Entry {
  readonly line: Buffer;
  readonly by: RecordWriter | undefined;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
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
