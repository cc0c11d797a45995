/** Takes a chunk over; it may be transferred to another thread. */
export type EmitChunk = (chunk: Uint8Array<ArrayBuffer>) => void;

/** A few file reads long: many small files share a chunk, and a large one does not fill the memory. */
const CHUNK_BYTES = 256 * 1024;

/** What becomes of chunks that were taken over. */
export interface ChunkedOutputOptions {
  /** Whoever takes a chunk is done with it when it returns: the next one is in its place. @default false */
  readonly reusesChunk?: boolean | undefined;
}

/** Bytes gathered into chunks of one size, the last one excepted. */
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

  /** The rest of the chunk, at least a byte and all zeros: fill it from its start, then `skip`. */
  room(): Uint8Array {
    return this.#chunk.subarray(this.#used);
  }

  /** Goes on by so many bytes; those that nobody filled are zeros. */
  skip(count: number): void {
    for (let left = count; left > 0; ) {
      const step = Math.min(left, CHUNK_BYTES - this.#used);
      this.#used += step;
      left -= step;
      if (this.#used === CHUNK_BYTES) this.#flush();
    }
  }

  /** Gives what is left. */
  end(): void {
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
