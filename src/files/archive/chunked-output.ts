/** Receives a finished chunk and owns it: it may transfer the chunk to another thread. */
export type EmitChunk = (chunk: Uint8Array<ArrayBuffer>) => void;

/** Many small files share a chunk, and a large file does not fill the memory. */
const CHUNK_BYTES = 256 * 1024;

/** Options of a {@link ChunkedOutput}. */
export interface ChunkedOutputOptions {
  /**
   * Reuses one buffer for all chunks. Set it only if the receiver is done with a chunk when it returns.
   * @default false
   */
  readonly reusesChunk?: boolean | undefined;
}

/** Collects bytes into chunks of equal size; only the last chunk may be shorter. */
export class ChunkedOutput {
  readonly #emit: EmitChunk;
  readonly #reusesChunk: boolean;
  #chunk = new Uint8Array(CHUNK_BYTES);
  #used = 0;

  constructor(emit: EmitChunk, { reusesChunk = false }: ChunkedOutputOptions = {}) {
    this.#emit = emit;
    this.#reusesChunk = reusesChunk;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + CHUNK_BYTES - this.#used);
      this.#chunk.set(part, this.#used);
      at += part.length;
      this.skip(part.length);
    }
  }

  /** Returns the unused part of the current chunk: at least 1 byte, all zeros. Fill it from its start, then call `skip`. */
  getFreeSpace(): Uint8Array {
    return this.#chunk.subarray(this.#used);
  }

  /** Advances by `count` bytes. Bytes that were not filled are zeros. */
  skip(count: number): void {
    for (let left = count; left > 0; ) {
      const step = Math.min(left, CHUNK_BYTES - this.#used);
      this.#used += step;
      left -= step;
      if (this.#used === CHUNK_BYTES) this.#flush();
    }
  }

  /** Emits the last chunk, if it has any bytes. */
  finish(): void {
    if (this.#used > 0) this.#flush();
  }

  #flush(): void {
    const full = this.#chunk.subarray(0, this.#used);
    if (!this.#reusesChunk) this.#chunk = new Uint8Array(CHUNK_BYTES);
    this.#used = 0;
    this.#emit(full);
    if (this.#reusesChunk) full.fill(0);
  }
}
