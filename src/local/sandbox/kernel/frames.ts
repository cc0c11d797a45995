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

/** What a supervisor is asked for. */
export type KernelRequest =
  | { readonly op: "run"; readonly text: string; readonly maxOutputBytes: number }
  /** What runs is interrupted, as by a user at a keyboard. */
  | { readonly op: "interrupt" };

const MOST_OUTPUT = 0xffff_fffe;

/** A request as the supervisor reads it: four bytes of length, a letter, and a run's limit and text. */
export function encodeRequest(request: KernelRequest): Buffer {
  if (request.op === "interrupt") return Buffer.from([0, 0, 0, 1, INTERRUPT]);
  const { text, maxOutputBytes } = request;
  const bytes = Buffer.allocUnsafe(9 + Buffer.byteLength(text));
  bytes.writeUInt32BE(bytes.length - 4);
  bytes.writeUInt8(RUN, 4);
  bytes.writeUInt32BE(Math.min(maxOutputBytes, MOST_OUTPUT), 5);
  bytes.write(text, 9);
  return bytes;
}

const [RUN, INTERRUPT] = [0x72, 0x69]; // "r", "i"
