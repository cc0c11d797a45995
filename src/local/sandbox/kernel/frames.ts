/** One message from inside a sandbox. Untrusted. */
export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Buffer;
}

/** Ready, stdout, stderr, done, ended. */
export type FrameKind = "r" | "o" | "e" | "d" | "x";

/** The bytes do not follow the supervisor's protocol: another process wrote them. */
export class FrameBreach extends Error {
  override readonly name = "FrameBreach";
}

const HEADER_BYTES = 5;
const MAX_PAYLOAD_BYTES: ReadonlyMap<FrameKind, number> = new Map([
  ["r", 0],
  ["o", 65_536],
  ["e", 65_536],
  ["d", 24 * 1024 * 1024],
  ["x", 1_024],
]);

/** Splits a byte stream into frames. Checks the size in a frame's header before waiting for its payload. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = HEADER_BYTES;

  *read(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= this.#needed) {
      const [first] = this.#chunks;
      // Avoid a copy when one chunk contains many frames.
      const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
      const { kind, size } = readHeader(bytes);
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

function readHeader(bytes: Buffer): { readonly kind: FrameKind; readonly size: number } {
  const letter = bytes.toString("latin1", 0, 1);
  const size = bytes.readUInt32BE(1);
  for (const [kind, largest] of MAX_PAYLOAD_BYTES) {
    if (kind === letter && size <= largest) return { kind, size };
  }
  throw new FrameBreach(`The supervisor never sends a frame of ${size} bytes.`);
}

/** A request to the supervisor. */
export type KernelRequest =
  | { readonly op: "run"; readonly text: string; readonly maxOutputBytes: number }
  /** Interrupts the current run, like Ctrl+C. */
  | { readonly op: "interrupt" };

const MAX_OUTPUT_BYTES = 0xffff_fffe;

/** Encodes a request for the supervisor: four bytes of length, a letter, and for a run its limit and text. */
export function encodeRequest(request: KernelRequest): Buffer {
  if (request.op === "interrupt") return Buffer.from([0, 0, 0, 1, INTERRUPT]);
  const { text, maxOutputBytes } = request;
  const bytes = Buffer.allocUnsafe(9 + Buffer.byteLength(text));
  bytes.writeUInt32BE(bytes.length - 4);
  bytes.writeUInt8(RUN, 4);
  bytes.writeUInt32BE(Math.min(maxOutputBytes, MAX_OUTPUT_BYTES), 5);
  bytes.write(text, 9);
  return bytes;
}

const [RUN, INTERRUPT] = [0x72, 0x69]; // "r", "i"
