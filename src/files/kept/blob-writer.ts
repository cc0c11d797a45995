import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";

/** The bytes of a stored file. */
export interface StoredBytes {
  /** The SHA-256 of the bytes, in hexadecimal. */
  readonly digest: string;
  readonly bytes: number;
}

/**
 * Writes files to a folder under the names of their digests. Nothing has its final name until `commit`, which first
 * waits until every byte is on the disk. Synchronous, so use it in a thread.
 */
export class BlobWriter implements Disposable {
  readonly #folder: string;
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** Paths of the temporary files by their digests. */
  readonly #pending = new Map<string, string>();

  /** `folder` is the path of an existing, private folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores the first `size` bytes of an open file, unless they are stored already. */
  store(file: number, size: number): StoredBytes {
    if (size > BUFFER_BYTES) return this.#storeLarge(file, size);
    let bytes = 0;
    for (let read = 1; bytes < size && read > 0; bytes += read)
      read = readSync(file, this.#buffer, bytes, size - bytes, bytes);
    const content = this.#buffer.subarray(0, bytes);
    const digest = createHash("sha256").update(content).digest("hex");
    if (!this.#has(digest, bytes)) {
      const temporary = this.#createTemporary(digest);
      writeAll(temporary.file, content);
      closeSync(temporary.file);
    }
    return { digest, bytes };
  }

  /** Gives every stored file its final name, once its bytes are on the disk. */
  commit(): void {
    for (const path of this.#pending.values()) syncFile(path);
    for (const [digest, path] of this.#pending) renameSync(path, `${this.#folder}/${digest}`);
    if (this.#pending.size > 0) syncFile(this.#folder);
    this.#pending.clear();
  }

  /** Removes files that were not committed. */
  [Symbol.dispose](): void {
    for (const path of this.#pending.values()) rmSync(path, { force: true });
    this.#pending.clear();
  }

  /** Copies a large file while it is hashed, because it may change in between. */
  #storeLarge(file: number, size: number): StoredBytes {
    const key = randomBytes(8).toString("hex");
    const temporary = this.#createTemporary(key);
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      for (let read = 1; bytes < size && read > 0; bytes += read) {
        read = readSync(file, this.#buffer, 0, Math.min(size - bytes, BUFFER_BYTES), bytes);
        const chunk = this.#buffer.subarray(0, read);
        hash.update(chunk);
        writeAll(temporary.file, chunk);
      }
    } finally {
      closeSync(temporary.file);
    }
    const digest = hash.digest("hex");
    this.#pending.delete(key);
    if (this.#has(digest, bytes)) rmSync(temporary.path);
    else this.#pending.set(digest, temporary.path);
    return { digest, bytes };
  }

  #createTemporary(key: string): { readonly path: string; readonly file: number } {
    const path = `${this.#folder}/${TEMPORARY_PREFIX}${randomBytes(8).toString("hex")}`;
    const file = openSync(path, "wx", 0o600);
    this.#pending.set(key, path);
    return { path, file };
  }

  #has(digest: string, bytes: number): boolean {
    if (this.#pending.has(digest)) return true;
    const stats = lstatSync(`${this.#folder}/${digest}`, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size === bytes;
  }
}

/** How the names of files start that are not complete. */
export const TEMPORARY_PREFIX = "tmp-";

const BUFFER_BYTES = 4 * 1024 * 1024;

function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** Waits until a file, or the names in a folder, are on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
