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
import { mountError } from "../../host/host-error.ts";
import { SyncRefusal } from "../sync/sync-reason.ts";
import { placeOfOpen } from "./held-folder.ts";
import type { StopFlag } from "./stop-flag.ts";

/** A file that is open to be read. */
export interface OpenFile {
  readonly descriptor: number;
  readonly path: Buffer;
  readonly size: bigint;
}

/** The copies of files that a checkpoint keeps in a folder of ours, each under a name of its own. */
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
      throw mountError(error, folder, "the copy of the folder is lost, so make a new checkpoint");
    }
  }

  has(copy: string): boolean {
    return this.#names.has(copy);
  }

  /** Copies a file under a name that no copy had before, if `attempt` never was. */
  add(file: OpenFile, attempt: number): string {
    const copy = `${attempt}-${this.#added.length}`;
    this.#added.push(copy);
    this.#names.add(copy);
    this.#copy(file, this.#pathOf(copy));
    return copy;
  }

  /** Removes what was added, and is not to be kept. */
  dropAdded(): void {
    for (const copy of this.#added.splice(0)) this.drop(copy);
  }

  dropAllBut(kept: ReadonlySet<string>): void {
    for (const copy of [...this.#names]) if (!kept.has(copy)) this.drop(copy);
  }

  drop(copy: string): void {
    this.#names.delete(copy);
    rmSync(this.#pathOf(copy), { force: true });
  }

  /** Whether an open file has the bytes of a copy. */
  isCopyOf(copy: string, { descriptor, size }: OpenFile): boolean {
    const other = openSync(this.#pathOf(copy), constants.O_RDONLY);
    try {
      for (let position = 0; position < size; position += CHUNK_BYTES) {
        this.#stop.check();
        const bytes = chunkAt(position, descriptor, this.#buffer);
        const otherBytes = chunkAt(position, other, this.#otherBuffer);
        if (bytes.length === 0 || !bytes.equals(otherBytes)) return false;
      }
      return true;
    } finally {
      closeSync(other);
    }
  }

  /** Makes a new file with the bytes of a copy. */
  putAt(target: Buffer, copy: string, size: bigint): void {
    if (!this.has(copy)) throw new SyncRefusal(COPY_GONE);
    const path = Buffer.from(this.#pathOf(copy));
    const descriptor = openSync(path, constants.O_RDONLY);
    try {
      this.#copy({ descriptor, path, size }, target);
    } finally {
      closeSync(descriptor);
    }
  }

  /** As a clone that shares its bytes where the disk can; else not by the system: it is slower. */
  #copy({ descriptor, path, size }: OpenFile, target: string | Buffer): void {
    this.#stop.check();
    this.#canClone &&= isCloned(placeOfOpen(descriptor, path), target);
    if (this.#canClone) return;
    const to = openSync(target, "wx", OURS);
    try {
      for (let position = 0; position < size; position += CHUNK_BYTES) {
        this.#stop.check();
        const bytes = chunkAt(position, descriptor, this.#buffer);
        for (let written = 0; written < bytes.length; ) {
          written += writeSync(to, bytes, written);
        }
      }
    } finally {
      closeSync(to);
    }
  }

  #pathOf(copy: string): string {
    return `${this.#folder}/${copy}`;
  }
}

const CHUNK_BYTES = 1024 * 1024;
const OURS = 0o600;
const COPY_GONE =
  "its copy is gone from the temporary folder: bring it back by hand, and take a new checkpoint";

/** What a file has there: less than a chunk only at its end. */
function chunkAt(position: number, descriptor: number, buffer: Buffer): Buffer {
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, position + length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}

/** Whether the disk could; if it could not, nothing is there. */
function isCloned(place: string | Buffer, target: string | Buffer): boolean {
  try {
    copyFileSync(place, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    chmodSync(target, OURS); // its mode came with it, and may be closed to its new owner
    return true;
  } catch {
    return false; // whatever is wrong is met again when it is copied by hand
  }
}
