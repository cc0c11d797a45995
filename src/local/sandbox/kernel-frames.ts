/** One message from inside a sandbox. Nothing in it is to be believed. */
export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Buffer;
}

/** Ready, stdout, stderr, done, ended. */
export type FrameKind = "r" | "o" | "e" | "d" | "x";

/** Whatever came was not what the supervisor sends: somebody else is speaking. */
export class FrameBreach extends Error {
  override readonly name = "FrameBreach";
}

const HEADER_BYTES = 5;
const LARGEST_PAYLOAD: ReadonlyMap<FrameKind, number> = new Map([
  ["r", 0],
  ["o", 65_536],
  ["e", 65_536],
  ["d", 24 * 1024 * 1024],
  ["x", 1_024],
]);

/** Cuts a stream of bytes into frames; a size is checked before a byte of it is waited for. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = HEADER_BYTES;

  *read(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= this.#needed) {
      const [first] = this.#chunks;
      // One chunk with many frames in it is not copied for each of them.
      const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
      const { kind, size } = header(bytes);
      this.#needed = HEADER_BYTES + size;
      const complete = bytes.length >= this.#needed;
      this.#chunks = [complete ? bytes.subarray(this.#needed) : bytes];
      if (!complete) continue;
      const payload = bytes.subarray(HEADER_BYTES, this.#needed);
      this.#length = bytes.length - this.#needed;
      this.#needed = HEADER_BYTES;
      yield { kind, payload };
    }
  }
}

function header(bytes: Buffer): { readonly kind: FrameKind; readonly size: number } {
  const letter = bytes.toString("latin1", 0, 1);
  const size = bytes.readUInt32BE(1);
  for (const [kind, largest] of LARGEST_PAYLOAD) {
    if (kind === letter && size <= largest) return { kind, size };
  }
  throw new FrameBreach(`a frame of ${size} bytes is none of the supervisor's`);
}

/** A request as the supervisor reads it: four bytes of length, then JSON. */
export function encodeRequest(request: object): Buffer {
  const body = Buffer.from(JSON.stringify(request));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(body.length);
  return Buffer.concat([size, body]);
}
