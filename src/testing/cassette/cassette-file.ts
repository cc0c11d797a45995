import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { VERSION } from "../../base/version.ts";
import { createFolder } from "../../host/create-folder.ts";
import { acquireLock, type FileLock } from "../../host/file-lock.ts";
import { CassetteError } from "./cassette-error.ts";
import { MAX_CASSETTE_BYTES } from "./read-cassette.ts";
import { digestBlob, isText } from "./read-request.ts";
import {
  type BlobLine,
  type CassetteEnd,
  type CassetteHeader,
  FORMAT,
  type RecordedExchange,
} from "./recorded-exchange.ts";

/** Longer bodies are not recorded, because their line could not be read again. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * A cassette that is being written. Until `finish`, the lines are in a file next to it, named `.partial`, which a
 * crash leaves behind. Only the user can read it.
 */
export class CassetteFile {
  readonly #path: string;
  readonly #lock: FileLock;
  readonly #file: FileHandle;
  readonly #stored = new Set<string>();
  #bytes = 0;
  #exchanges = 0;
  #problem: string | null = null;
  #cause: unknown;
  /** Lines are written one after another. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, lock: FileLock, file: FileHandle) {
    this.#path = path;
    this.#lock = lock;
    this.#file = file;
  }

  /** Starts a cassette. Throws if another process records to the same path. */
  static async create(path: string): Promise<CassetteFile> {
    try {
      await createFolder(dirname(path));
      const lock = await acquireLock(`${path}.lock`, systemClock);
      if ("pid" in lock) {
        throw new CassetteError(
          `The cassette ${path} is being recorded by process ${lock.pid}. Wait until it has ended, or use another path.`,
        );
      }
      await rm(`${path}.partial`, { force: true });
      const file = new CassetteFile(path, lock, await open(`${path}.partial`, "wx", 0o600));
      file.#append({
        cassette: FORMAT,
        version: VERSION,
        recordedAt: new Date(systemClock.now()).toISOString(),
      });
      return file;
    } catch (error) {
      if (error instanceof CassetteError) throw error;
      throw new CassetteError(
        `The cassette ${path} cannot be written: ${getErrorMessage(error)}. Check the folder and its permissions.`,
        { cause: error },
      );
    }
  }

  /** Stores content once, and returns its SHA-256. */
  storeBlob(bytes: Uint8Array): string {
    const blob = digestBlob(bytes);
    if (this.#stored.has(blob)) return blob;
    this.#stored.add(blob);
    if (bytes.length > MAX_BODY_BYTES) {
      this.fail(`a body has ${bytes.length} bytes, more than ${MAX_BODY_BYTES}`);
      return blob;
    }
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#append(
      isText(buffer)
        ? { blob, text: buffer.toString() }
        : { blob, base64: buffer.toString("base64") },
    );
    return blob;
  }

  /** Writes an exchange. Exchanges may be written in any order. */
  add(exchange: RecordedExchange): void {
    this.#exchanges += 1;
    this.#append(exchange);
  }

  /** Remembers why the run cannot be recorded. The run itself continues, and `finish` throws. */
  fail(problem: string, cause?: unknown): void {
    this.#problem ??= problem;
    this.#cause ??= cause;
  }

  /** Completes the file and moves it to its path. */
  async finish(): Promise<void> {
    this.#append({ end: true, exchanges: this.#exchanges });
    await this.#writing;
    try {
      await this.#file.sync();
    } catch (error) {
      this.fail(getErrorMessage(error), error);
    }
    try {
      await this.#file.close();
      if (this.#problem === null) return await rename(`${this.#path}.partial`, this.#path);
    } catch (error) {
      this.fail(getErrorMessage(error), error);
    } finally {
      await this.#lock.release();
    }
    throw new CassetteError(
      `The cassette ${this.#path} was not written: ${this.#problem}. The lines up to there are in ${this.#path}.partial: fix the cause and record again.`,
      { cause: this.#cause },
    );
  }

  #append(line: CassetteHeader | BlobLine | RecordedExchange | CassetteEnd): void {
    if (this.#problem !== null) return;
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_CASSETTE_BYTES) {
      this.fail(`it would have more than ${MAX_CASSETTE_BYTES} bytes`);
      return;
    }
    this.#writing = this.#writing
      .then(() => this.#file.appendFile(bytes))
      .catch((error: unknown) => this.fail(getErrorMessage(error), error));
  }
}
