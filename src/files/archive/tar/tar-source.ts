import { type FileHandle, open } from "node:fs/promises";
import { FilesystemError } from "../../../base/filesystem-error.ts";
import { mountError } from "../../../host/host-error.ts";

/** At most so many bytes are given at once, and held. */
export const TAR_CHUNK_BYTES = 64 * 1024;

/** Opens a tar; whoever does closes it. */
export async function openTar(path: string): Promise<TarSource> {
  try {
    const file = await open(path, "r");
    return new TarSource(path, file, (await file.stat()).size);
  } catch (error) {
    throw mountError(error, path, TO_READ);
  }
}

/** The bytes of a tar on disk, a window at a time: headers are small and near each other. */
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

  /** Whether so many bytes are there. */
  holds(offset: number, length: number): boolean {
    return offset + length <= this.size;
  }

  /** A copy of so many bytes, at most `TAR_CHUNK_BYTES`. */
  async bytes(offset: number, length: number): Promise<Uint8Array> {
    if (this.#isClosed) {
      throw FilesystemError.invalid(this.path, "is closed: read each entry when it is given");
    }
    if (!this.holds(offset, length)) throw cutOff(this);
    const from = offset - this.#start;
    if (from >= 0 && from + length <= this.#window.length) {
      return this.#window.slice(from, from + length);
    }
    const window = await this.#read(offset, length);
    this.#window = window;
    this.#start = offset;
    return window.slice(0, length);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#file.close();
  }

  /** As much as there is from `offset` on, and not less than `least`. */
  async #read(offset: number, least: number): Promise<Uint8Array<ArrayBuffer>> {
    const window = new Uint8Array(TAR_CHUNK_BYTES);
    let filled = 0;
    while (filled < least) {
      const { bytesRead } = await this.#file
        .read(window, filled, window.length - filled, offset + filled)
        .catch((error: unknown) => {
          throw mountError(error, this.path, TO_READ);
        });
      if (bytesRead === 0) throw cutOff(this);
      filled += bytesRead;
    }
    return window.subarray(0, filled);
  }
}

const TO_READ = "an archive is read whole, or not at all";

/** A tar that ends too early. */
export function cutOff({ path, size }: TarSource): FilesystemError {
  return FilesystemError.invalid(path, `is cut off after ${size} bytes: fetch it again`);
}
