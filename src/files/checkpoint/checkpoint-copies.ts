import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { toDescriptorPath } from "../../host/pinned-folder.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { SyncError } from "../sync/sync-failure.ts";
import type { StopFlag } from "./stop-flag.ts";

/** A file that is open for reading. */
export interface OpenFile {
  readonly descriptor: number;
  readonly path: Buffer;
  readonly size: bigint;
}

/** The file copies of a checkpoint, stored in one folder under unique names. */
export class CheckpointCopies {
  readonly #folder: string;
  readonly #stop: StopFlag;
  readonly #names: Set<string>;
  readonly #added: string[] = [];
  #canClone = true;
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  readonly #otherBuffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);

  constructor(folder: string, stop: StopFlag) {
    this.#folder = folder;
    this.#stop = stop;
    try {
      this.#names = new Set(readdirSync(folder));
    } catch (error) {
      throw toFilesystemErrorWithRemedy(
        error,
        folder,
        "create a new checkpoint, because the copy of the folder is lost",
      );
    }
  }

  /** Whether a copy exists. */
  has(copy: string): boolean {
    return this.#names.has(copy);
  }

  /** Copies a file and returns the name of the copy. Names are unique if every `attempt` is. */
  add(file: OpenFile, attempt: number): string {
    const copy = `${attempt}-${this.#added.length}`;
    this.#added.push(copy);
    this.#names.add(copy);
    this.#copy(file, this.#toPath(copy));
    return copy;
  }

  /** Removes the copies that were added since construction. */
  removeAdded(): void {
    for (const copy of this.#added.splice(0)) this.remove(copy);
  }

  /** Removes all copies except `kept`. */
  removeAllExcept(kept: ReadonlySet<string>): void {
    for (const copy of [...this.#names]) if (!kept.has(copy)) this.remove(copy);
  }

  /** Removes a copy. */
  remove(copy: string): void {
    this.#names.delete(copy);
    rmSync(this.#toPath(copy), { force: true });
  }

  /** Whether an open file has the same bytes as a copy. */
  hasSameBytes(copy: string, { descriptor, size }: OpenFile): boolean {
    const other = openSync(this.#toPath(copy), constants.O_RDONLY);
    try {
      for (let position = 0; position < size; position += CHUNK_BYTES) {
        this.#stop.check();
        const bytes = readChunk(position, descriptor, this.#buffer);
        const otherBytes = readChunk(position, other, this.#otherBuffer);
        if (bytes.length === 0 || !bytes.equals(otherBytes)) return false;
      }
      return true;
    } finally {
      closeSync(other);
    }
  }

  /** Writes the bytes of a copy to a new file. */
  writeTo(target: Buffer, copy: string, size: bigint): void {
    if (!this.has(copy)) throw new SyncError(COPY_MISSING);
    const path = Buffer.from(this.#toPath(copy));
    const descriptor = openSync(path, constants.O_RDONLY);
    try {
      this.#copy({ descriptor, path, size }, target);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Copies a file as a reflink if the disk supports it. Otherwise copies chunk by chunk, which is faster than the system's copy. */
  #copy({ descriptor, path, size }: OpenFile, target: string | Buffer): void {
    this.#stop.check();
    this.#canClone &&= tryClone(toDescriptorPath(descriptor, path), target);
    if (this.#canClone) return;
    const to = openSync(target, "wx", PRIVATE_MODE);
    try {
      for (let position = 0; position < size; position += CHUNK_BYTES) {
        this.#stop.check();
        const bytes = readChunk(position, descriptor, this.#buffer);
        for (let written = 0; written < bytes.length; ) {
          written += writeSync(to, bytes, written);
        }
      }
    } finally {
      closeSync(to);
    }
  }

  #toPath(copy: string): string {
    return `${this.#folder}/${copy}`;
  }
}

const CHUNK_BYTES = 1024 * 1024;
const PRIVATE_MODE = 0o600;
const COPY_MISSING =
  "Its copy is missing from the temporary folder. Restore the file by hand, then take a new checkpoint.";

/** Reads a chunk at a position. It is shorter than the buffer only at the end of the file. */
function readChunk(position: number, descriptor: number, buffer: Buffer): Buffer {
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, position + length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}

/** Creates a reflink. Returns `false` and leaves no file if the disk does not support it. */
function tryClone(place: string | Buffer, target: string | Buffer): boolean {
  try {
    copyFileSync(place, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    chmodSync(target, PRIVATE_MODE); // the mode is copied too, and may deny access
    return true;
  } catch {
    return false; // copying chunk by chunk reports any other error
  }
}
