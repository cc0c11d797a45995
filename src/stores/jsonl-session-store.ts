import { type FileHandle, lstat, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import {
  checkKnownKeys,
  getErrorMessage,
  InvalidOptionError,
  type KnownKeys,
} from "../base/errors.ts";
import { warn } from "../base/warn.ts";
import { listLockHolders } from "../host/file-lock.ts";
import { isForeign } from "../host/is-foreign.ts";
import {
  type ClaimOptions,
  type ReadOptions,
  type RecordWriter,
  type SessionClaim,
  type SessionStore,
  SessionStoreError,
} from "../session/session-store.ts";
import { readCheckpointFile } from "./checkpoint-file.ts";
import { getClaimOwner } from "./claim-owner.ts";
import type { SessionTruncated } from "./hold-session-file.ts";
import { openSessionFile } from "./open-session-file.ts";
import { MAX_RECORD_BYTES, parseLine, RecordLines, toLine } from "./record-lines.ts";
import { SessionFile } from "./session-file.ts";
import {
  createDamagedError,
  createTooLargeError,
  isMissing,
  toSessionFileError,
} from "./session-file-errors.ts";
import { getSessionPaths, parseFileName, type SessionPaths } from "./session-file-name.ts";

/** Options of a {@link JsonlSessionStore}. */
export interface JsonlSessionStoreOptions {
  /**
   * Called once for each session whose file ends within a record.
   * @default emits a process warning
   */
  readonly onRepair?: ((cut: SessionTruncated) => void) | undefined;
  /** Clock for waiting on locks. @default the system clock */
  readonly clock?: Clock | undefined;
}

const storeKeys: KnownKeys<JsonlSessionStoreOptions> = { clock: true, onRepair: true };

/**
 * Stores sessions in a directory, each in one append-only file with one JSON record per line. Files
 * (0600) and new folders (0700) are private to their owner, and symlinks are never followed. A
 * record is stored once its line is complete and on disk. One writer at a time holds a session: an
 * evaluation until it ends, any other write briefly. A claim ends with its process. Reading needs none.
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 * import { historySlice } from "weakincentives/openai";
 * import { JsonlSessionStore } from "weakincentives/stores";
 *
 * const store = new JsonlSessionStore("./sessions");
 * const session = await Session.open(store, "nightly-review", [historySlice]);
 * ```
 */
export class JsonlSessionStore implements SessionStore, AsyncDisposable {
  readonly #directory: string;
  readonly #onRepair: (cut: SessionTruncated) => void;
  readonly #clock: Clock;
  readonly #files = new Map<string, SessionFile>();
  /** Number of complete records at each reported truncation, by path. */
  readonly #reportedRecords = new Map<string, number>();
  readonly #onExit = () => {
    for (const file of this.#files.values()) file.releaseNow();
  };
  #isClosed = false;

  /** Creates a store. The directory is created when the first record is written. */
  constructor(directory: string, options: JsonlSessionStoreOptions = {}) {
    checkKnownKeys(options, "JsonlSessionStore(options)", storeKeys);
    this.#directory = resolve(checkDirectory(directory));
    this.#onRepair = options.onRepair ?? warnAboutTruncation;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Appends a record. Resolves when it is on disk. Throws `SessionStoreError` if another writer holds the
   * session or has written to it since.
   */
  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    const line = serialize(id, record);
    await this.#openFile(id).append(line, by);
  }

  /**
   * Claims a session for one writer, until it is released or its process ends. Throws `SessionStoreError`
   * with `owner` and `since` while another writer holds it, in this process or in another.
   */
  async claim(id: string, options?: ClaimOptions): Promise<SessionClaim> {
    const owner = getClaimOwner(options);
    try {
      return await this.#openFile(id).claim(owner);
    } catch (error) {
      throw toSessionFileError(error, getSessionPaths(this.#directory, id), "written");
    }
  }

  /** Returns the session's last checkpoint, or `null`. Throws `SessionStoreError` if it is damaged. */
  async readCheckpoint(id: string): Promise<object | null> {
    const paths = getSessionPaths(this.#directory, id);
    try {
      return await readCheckpointFile(paths);
    } catch (error) {
      throw toSessionFileError(error, paths, "read");
    }
  }

  /** Replaces the session's checkpoint. A crash leaves the old one or the new one. */
  async writeCheckpoint(id: string, checkpoint: object, by?: RecordWriter): Promise<void> {
    const text = serialize(id, checkpoint);
    try {
      await this.#openFile(id).writeCheckpoint(text, by);
    } catch (error) {
      throw toSessionFileError(error, getSessionPaths(this.#directory, id), "written");
    }
  }

  /**
   * Yields a session's complete records, oldest first, from number `from` on. Throws `SessionStoreError`
   * for a damaged line.
   */
  async *read(id: string, { from = 0 }: ReadOptions = {}): AsyncGenerator<object> {
    const paths = getSessionPaths(this.#directory, id);
    const file = await openForReading(paths);
    if (!file) return;
    try {
      const lines = new RecordLines(file, (await file.stat()).size);
      for await (const line of lines) {
        if (lines.count <= from) continue;
        const parsed = parseLine(line);
        if (typeof parsed === "string") throw createDamagedError(paths, lines.count, parsed);
        yield parsed.record;
      }
      if (lines.size > lines.end) await this.#reportTruncation(paths, file, lines);
    } catch (error) {
      throw toSessionFileError(error, paths, "read");
    } finally {
      await file.close();
    }
  }

  /**
   * Returns the ids of the stored sessions, sorted. A file without a complete record is not a
   * session, and neither is a symlink, a pipe, or a file of another user. A file that cannot be read is
   * listed: reading it throws.
   */
  async list(): Promise<string[]> {
    const ids: string[] = [];
    for (const name of await this.#listNames()) {
      const id = parseFileName(name);
      if (id === null) continue;
      const paths = getSessionPaths(this.#directory, id);
      if (await hasRecords(paths).catch(() => true)) ids.push(id); // one damaged file hides no other session
    }
    return ids.sort();
  }

  /** Deletes a session. Does nothing if it does not exist. Throws `SessionStoreError` while it is claimed. */
  async delete(id: string): Promise<void> {
    const paths = getSessionPaths(this.#directory, id);
    try {
      if (!(await exists(paths.file)) && !(await exists(paths.claim))) return;
      await this.#openFile(id).remove();
      this.#reportedRecords.delete(paths.file);
    } catch (error) {
      throw toSessionFileError(error, paths, "deleted");
    }
  }

  /**
   * Waits for pending writes and ends the claims. Only reading works after that.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#files.values()].map((file) => file.close()));
    process.off("exit", this.#onExit);
  }

  /** Closes the store. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #openFile(id: string): SessionFile {
    if (this.#isClosed) {
      const message = `The store of session ${JSON.stringify(id)} is closed. Create a new JsonlSessionStore.`;
      throw new SessionStoreError(message, { sessionId: id });
    }
    const existing = this.#files.get(id);
    if (existing) return existing;
    const paths = getSessionPaths(this.#directory, id);
    const onTruncated = (cut: SessionTruncated) => {
      this.#report(cut);
      // It is about to be removed, so a later truncation is reported again.
      this.#reportedRecords.delete(cut.path);
    };
    const file = new SessionFile({ paths, clock: this.#clock, onTruncated });
    if (this.#files.size === 0) process.on("exit", this.#onExit);
    this.#files.set(id, file);
    return file;
  }

  async #listNames(): Promise<readonly string[]> {
    try {
      return await readdir(this.#directory);
    } catch (error) {
      if (isMissing(error)) return [];
      const message = `The sessions in ${this.#directory} could not be listed: ${getErrorMessage(error)}`;
      const remedy = "Use a directory that the store can read and write.";
      throw new SessionStoreError(`${message}. ${remedy}`, { cause: error });
    }
  }

  /** Reports an incomplete record, unless a writer is just writing it. */
  async #reportTruncation(
    { id, file: path, lock }: SessionPaths,
    file: FileHandle,
    { count, end, size }: RecordLines,
  ): Promise<void> {
    if (this.#files.get(id)?.isLocked || (await listLockHolders(lock)).length > 0) return;
    if ((await file.stat()).size !== size) return;
    this.#report({ sessionId: id, path, records: count, bytes: size - end });
  }

  #report(cut: SessionTruncated): void {
    if (this.#reportedRecords.get(cut.path) === cut.records) return;
    this.#reportedRecords.set(cut.path, cut.records);
    try {
      this.#onRepair(Object.freeze(cut));
    } catch (error) {
      warn("The session store's onRepair failed", error);
    }
  }
}

function serialize(id: string, record: object): Buffer {
  const serialized = toLine(record);
  if (typeof serialized === "string") {
    const remedy = "Use only plain objects, arrays, strings, finite numbers, booleans and null.";
    const message = `A record of session ${JSON.stringify(id)} is not JSON: ${serialized}. ${remedy}`;
    throw new SessionStoreError(message, { sessionId: id });
  }
  if (serialized.line.length > MAX_RECORD_BYTES) throw createTooLargeError(id);
  return serialized.line;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function checkDirectory(directory: string): string {
  if (typeof directory === "string" && directory !== "" && !directory.includes("\0")) {
    return directory;
  }
  throw new InvalidOptionError({
    field: "JsonlSessionStore(directory)",
    value: directory,
    rule: "must be the path of a directory",
    remedy: 'use new JsonlSessionStore("sessions"); the directory is created when needed',
  });
}

function warnAboutTruncation({ sessionId, path, records, bytes }: SessionTruncated): void {
  const summary = `Session ${JSON.stringify(sessionId)} continues from its ${records} complete records`;
  warn(summary, new Error(`${path} ends within a record, and its last ${bytes} bytes are ignored`));
}

async function openForReading(paths: SessionPaths): Promise<FileHandle | null> {
  try {
    return await openSessionFile(paths.file, "read");
  } catch (error) {
    if (isMissing(error)) return null;
    throw toSessionFileError(error, paths, "read");
  }
}

async function hasRecords(paths: SessionPaths): Promise<boolean> {
  if (!(await isOwnFile(paths.file))) return false;
  const file = await openForReading(paths);
  if (!file) return false;
  try {
    for await (const _line of new RecordLines(file, (await file.stat()).size)) return true;
    return false;
  } catch (error) {
    throw toSessionFileError(error, paths, "read");
  } finally {
    await file.close();
  }
}

/** Whether a path is a file that this user may have stored. Entries that others planted are no sessions. */
async function isOwnFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null); // it may be deleted at any time
  if (stats === null) return false;
  return stats.isFile() && !(await isForeign(path, stats));
}
