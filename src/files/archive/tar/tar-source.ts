import { type FileHandle, open } from "node:fs/promises";
import { FilesystemError } from "../../../base/filesystem-error.ts";
import { toFilesystemErrorWithRemedy } from "../../../host/to-filesystem-error.ts";

/** The most bytes that one read returns, and that are held in memory. */
export const TAR_CHUNK_BYTES = 64 * 1024;

/** Opens a tar. The caller closes it. */
export async function openTar(path: string): Promise<TarSource> {
  try {
    const file = await open(path, "r");
    return new TarSource(path, file, (await file.stat()).size);
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, path, READ_REMEDY);
  }
}

/** Reads a tar on disk through a window, because headers are small and close together. */
export class TarSource {
  readonly path: string;
  readonly size: number;
  readonly #file: FileHandle;
  #window = new Uint8Array();
  #start = 0;
  #isClosed = false;

  constructor(path: string, file: FileHandle, size: number) {
    this.path = path;
    this.#file = file;
    this.size = size;
  }

  /** Whether the file has `length` bytes at `offset`. */
  hasBytes(offset: number, length: number): boolean {
    return offset + length <= this.size;
  }

  /** Returns a copy of `length` bytes, at most {@link TAR_CHUNK_BYTES}. */
  async readBytes(offset: number, length: number): Promise<Uint8Array> {
    if (this.#isClosed) {
      throw FilesystemError.invalid(
        this.path,
        "is closed. Read each entry before advancing to the next one.",
      );
    }
    if (!this.hasBytes(offset, length)) throw createCutOffError(this);
    const from = offset - this.#start;
    if (from >= 0 && from + length <= this.#window.length) {
      return this.#window.slice(from, from + length);
    }
    const window = await this.#read(offset, length);
    this.#window = window;
    this.#start = offset;
    return window.slice(0, length);
  }

  /** Closes the file; later reads fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#file.close();
  }

  /** Reads up to one window of bytes from `offset`, at least `least` bytes. */
  async #read(offset: number, least: number): Promise<Uint8Array<ArrayBuffer>> {
    const window = new Uint8Array(TAR_CHUNK_BYTES);
    let filled = 0;
    while (filled < least) {
      const { bytesRead } = await this.#file
        .read(window, filled, window.length - filled, offset + filled)
        .catch((error: unknown) => {
          throw toFilesystemErrorWithRemedy(error, this.path, READ_REMEDY);
        });
      if (bytesRead === 0) throw createCutOffError(this);
      filled += bytesRead;
    }
    return window.subarray(0, filled);
  }
}

const READ_REMEDY = "make it readable, then try again";

/** Creates the error for a tar that ends too early. */
export function createCutOffError({ path, size }: TarSource): FilesystemError {
  return FilesystemError.invalid(path, `is cut off after ${size} bytes. Download it again.`);
}
