import { access, type FileHandle, open, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { InvalidOptionError, messageOf } from "../base/errors.ts";
import { warn } from "../base/warn.ts";
import {
  type RecordWriter,
  type SessionStore,
  SessionStoreError,
} from "../session/session-store.ts";
import { lineOf, RecordLines, recordOf } from "./record-lines.ts";
import { SessionFile, type SessionTruncated } from "./session-file.ts";
import { damaged, fileError, isMissing } from "./session-file-errors.ts";
import { lockHolders } from "./session-file-lock.ts";
import { idOfFile, pathsOf, type SessionPaths } from "./session-file-name.ts";

/** What a `JsonlSessionStore` may be told besides its directory. */
export interface JsonlSessionStoreOptions {
  /** Hears once of each session whose file ends within a record. @default a process warning */
  readonly onRepair?: ((cut: SessionTruncated) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Keeps sessions in a directory, one append-only file each, one JSON record a line. A record counts
 * once its line is whole and on the disk. The first `append` to a session locks it for this store
 * until `close` or the end of the process; reading needs no lock.
 */
export class JsonlSessionStore implements SessionStore, AsyncDisposable {
  readonly #directory: string;
  readonly #onRepair: (cut: SessionTruncated) => void;
  readonly #clock: Clock;
  readonly #files = new Map<string, SessionFile>();
  /** How many records were whole before each cut that was told, by path. */
  readonly #told = new Map<string, number>();
  readonly #onExit = () => {
    for (const file of this.#files.values()) file.releaseNow();
  };
  #isClosed = false;

  /** The directory is made when the first record is written. */
  constructor(directory: string, options: JsonlSessionStoreOptions = {}) {
    this.#directory = resolve(checkDirectory(directory));
    this.#onRepair = options.onRepair ?? warnOfCut;
    this.#clock = options.clock ?? systemClock;
  }

  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    const made = lineOf(record);
    if (typeof made === "string") {
      const remedy = "give plain objects, lists, strings, finite numbers, booleans and null";
      throw new SessionStoreError(
        `A record of session ${JSON.stringify(id)} is no JSON, ${made}: ${remedy}`,
        {
          sessionId: id,
        },
      );
    }
    await this.#fileOf(id).append(made.line, by);
  }

  async *read(id: string): AsyncGenerator<object> {
    const paths = pathsOf(this.#directory, id);
    const file = await openIfThere(paths);
    if (!file) return;
    try {
      const lines = new RecordLines(file);
      for await (const line of lines) {
        const made = recordOf(line);
        if (typeof made === "string") throw damaged(paths, lines.count, made);
        yield made.record;
      }
      if (lines.size > lines.end) await this.#tellOfCut(paths, file, lines);
    } catch (error) {
      throw fileError(error, paths, "read");
    } finally {
      await file.close();
    }
  }

  /** Sorted. A file that was cut within its first record is no session yet. */
  async list(): Promise<string[]> {
    const ids: string[] = [];
    for (const name of await this.#names()) {
      const id = idOfFile(name);
      if (id !== null && (await hasRecords(pathsOf(this.#directory, id)))) ids.push(id);
    }
    return ids.sort();
  }

  /** A session that is not there is deleted already. */
  async delete(id: string): Promise<void> {
    const paths = pathsOf(this.#directory, id);
    try {
      await access(paths.file);
      await this.#fileOf(id).remove();
      this.#told.delete(paths.file);
    } catch (error) {
      if (!isMissing(error)) throw fileError(error, paths, "deleted");
    }
  }

  /** Waits for what is being written, then lets others write; `append` is refused from now on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#files.values()].map((file) => file.close()));
    process.off("exit", this.#onExit);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #fileOf(id: string): SessionFile {
    if (this.#isClosed) {
      const message = `The store of session ${JSON.stringify(id)} is closed: make a new JsonlSessionStore`;
      throw new SessionStoreError(message, { sessionId: id });
    }
    const known = this.#files.get(id);
    if (known) return known;
    const paths = pathsOf(this.#directory, id);
    const onCut = (cut: SessionTruncated) => {
      this.#tell(cut);
      this.#told.delete(cut.path); // it is about to be removed: another one would be news
    };
    const file = new SessionFile({ paths, clock: this.#clock, onCut });
    if (this.#files.size === 0) process.on("exit", this.#onExit);
    this.#files.set(id, file);
    return file;
  }

  async #names(): Promise<readonly string[]> {
    try {
      return await readdir(this.#directory);
    } catch (error) {
      if (isMissing(error)) return [];
      const message = `The sessions in ${this.#directory} could not be listed: ${messageOf(error)}`;
      const remedy = "give the store a directory it may use";
      throw new SessionStoreError(`${message}: ${remedy}`, { cause: error });
    }
  }

  /** A tail that somebody is just writing is no cut. */
  async #tellOfCut(
    { id, file: path, lock }: SessionPaths,
    file: FileHandle,
    { count, end, size }: RecordLines,
  ): Promise<void> {
    if (this.#files.get(id)?.isHeld || (await lockHolders(lock)).length > 0) return;
    if ((await file.stat()).size !== size) return;
    this.#tell({ sessionId: id, path, records: count, bytes: size - end });
  }

  #tell(cut: SessionTruncated): void {
    if (this.#told.get(cut.path) === cut.records) return;
    this.#told.set(cut.path, cut.records);
    try {
      this.#onRepair(Object.freeze(cut));
    } catch (error) {
      warn("onRepair of a session store failed", error);
    }
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
    remedy: 'write new JsonlSessionStore("sessions"); it is made when needed',
  });
}

function warnOfCut({ sessionId, path, records, bytes }: SessionTruncated): void {
  const what = `Session ${JSON.stringify(sessionId)} goes on from its ${records} whole records`;
  warn(what, new Error(`${path} ends within another one, whose ${bytes} bytes are left out`));
}

async function openIfThere(paths: SessionPaths): Promise<FileHandle | null> {
  try {
    return await open(paths.file, "r");
  } catch (error) {
    if (isMissing(error)) return null;
    throw fileError(error, paths, "read");
  }
}

async function hasRecords(paths: SessionPaths): Promise<boolean> {
  const file = await openIfThere(paths);
  if (!file) return false;
  try {
    for await (const _line of new RecordLines(file)) return true;
    return false;
  } catch (error) {
    throw fileError(error, paths, "read");
  } finally {
    await file.close();
  }
}
