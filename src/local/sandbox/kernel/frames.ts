/** One message from inside a sandbox. Untrusted. */
export interface Frame {
  readonly kind: FrameKind;
  /** The run that it belongs to. */
  readonly channel: number;
  readonly payload: Buffer;
}

/** Ready, stdout, stderr, done, ended, and ended with the whole sandbox because of a violation. */
export type FrameKind = "r" | "o" | "e" | "d" | "x" | "v";

/** The channel of Python runs. Shell commands have all others. */
export const PYTHON_CHANNEL = 0;

/** The bytes do not follow the supervisor's protocol: another process wrote them. */
export class FrameBreach extends Error {
  override readonly name = "FrameBreach";
}

const HEADER_BYTES = 9;
const MAX_PAYLOAD_BYTES: ReadonlyMap<FrameKind, number> = new Map([
  ["r", 0],
  ["o", 65_536],
  ["e", 65_536],
  ["d", 24 * 1024 * 1024],
  ["x", 1_024],
  ["v", 1_024],
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
      const { kind, channel, size } = readHeader(bytes);
      this.#needed = HEADER_BYTES + size;
      const complete = bytes.length >= this.#needed;
      this.#chunks = [complete ? bytes.subarray(this.#needed) : bytes];
      if (!complete) continue;
      const payload = bytes.subarray(HEADER_BYTES, this.#needed);
      this.#length = bytes.length - this.#needed;
      this.#needed = HEADER_BYTES;
      yield { kind, channel, payload };
    }
  }
}

interface FrameHeader {
  readonly kind: FrameKind;
  readonly channel: number;
  readonly size: number;
}

function readHeader(bytes: Buffer): FrameHeader {
  const letter = bytes.toString("latin1", 0, 1);
  const channel = bytes.readUInt32BE(1);
  const size = bytes.readUInt32BE(5);
  for (const [kind, largest] of MAX_PAYLOAD_BYTES) {
    if (kind === letter && size <= largest) return { kind, channel, size };
  }
  throw new FrameBreach(`The supervisor never sends a frame of ${size} bytes.`);
}

/** A request to the supervisor. */
export type KernelRequest =
  /** Runs code in the interpreter, which is started if there is none. */
  | { readonly op: "python"; readonly text: string; readonly maxOutputBytes: number }
  /** Interrupts the interpreter's run, like Ctrl+C. */
  | { readonly op: "interrupt" }
  /** Starts a shell command. */
  | {
      readonly op: "shell";
      readonly channel: number;
      readonly text: string;
      readonly maxOutputBytes: number;
      /** Processor time in seconds that each of its processes may use. */
      readonly cpuSeconds: number;
    }
  /** Kills the interpreter or a command, and all that it started. */
  | { readonly op: "kill"; readonly channel: number };

const MAX_OUTPUT_BYTES = 0xffff_fffe;

/** Encodes a request for the supervisor: four bytes of length, a letter, the channel, and the arguments. */
export function encodeRequest(request: KernelRequest): Buffer {
  switch (request.op) {
    case "python":
      return encode("p", [PYTHON_CHANNEL, request.maxOutputBytes], request.text);
    case "interrupt":
      return encode("i", [PYTHON_CHANNEL], "");
    case "shell": {
      const { channel, maxOutputBytes, cpuSeconds, text } = request;
      return encode("s", [channel, maxOutputBytes, cpuSeconds], text);
    }
    case "kill":
      return encode("k", [request.channel], "");
  }
}

function encode(letter: string, numbers: readonly number[], text: string): Buffer {
  const textAt = 5 + 4 * numbers.length;
  const bytes = Buffer.allocUnsafe(textAt + Buffer.byteLength(text));
  bytes.writeUInt32BE(bytes.length - 4);
  bytes.write(letter, 4, "latin1");
  numbers.forEach((number, index) => {
    bytes.writeUInt32BE(Math.min(number, MAX_OUTPUT_BYTES), 5 + 4 * index);
  });
  bytes.write(text, textAt);
  return bytes;
}
