/** The bytes do not follow the channel's protocol. */
export class ChannelBreach extends Error {
  override readonly name = "ChannelBreach";
}

/** Limits on one message. Both sizes are checked before any of it is stored. */
export interface FrameLimits {
  /** Most bytes of the message itself, as JSON. */
  readonly headerBytes: number;
  /** Most bytes of the byte arrays in it, together. */
  readonly bodyBytes: number;
}

/** Bytes before the message: the sizes of its JSON and of its byte arrays. */
export const PREFIX_BYTES = 8;

/** Encodes a message: JSON, followed by the bytes of its byte arrays, which the JSON replaces by their sizes. */
export function encodeFrame(message: object): Buffer {
  const blobs: Uint8Array[] = [];
  const header = Buffer.from(
    JSON.stringify(message, function (this: Readonly<Record<string, unknown>>, key, value) {
      // Node's buffers have a toJSON method, so `value` is already converted.
      const original = this[key];
      if (!(original instanceof Uint8Array)) return value;
      blobs.push(original);
      return { blob: original.length };
    }),
  );
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(header.length, 0);
  prefix.writeUInt32BE(
    blobs.reduce((sum, { length }) => sum + length, 0),
    4,
  );
  return Buffer.concat([prefix, header, ...blobs]);
}

/** Reads the sizes at the start of a frame. Throws {@link ChannelBreach} if they exceed the limits. */
export function readPrefix(
  bytes: Buffer,
  limits: FrameLimits,
): { readonly header: number; readonly whole: number } {
  const header = bytes.readUInt32BE(0);
  const body = bytes.readUInt32BE(4);
  if (header > limits.headerBytes || body > limits.bodyBytes) {
    throw new ChannelBreach(`A message has ${header} and ${body} bytes.`);
  }
  return { header, whole: PREFIX_BYTES + header + body };
}

/** Decodes one whole frame. Throws {@link ChannelBreach} if it was not made by {@link encodeFrame}. */
export function decodeFrame(frame: Buffer, header: number): unknown {
  let at = PREFIX_BYTES + header;
  try {
    return JSON.parse(frame.toString("utf8", PREFIX_BYTES, at), (_key, value: unknown) => {
      const size = readBlobSize(value);
      if (size === null) return value;
      if (size < 0 || at + size > frame.length) throw new ChannelBreach("A byte array is cut off.");
      at += size;
      return frame.subarray(at - size, at);
    });
  } catch (error) {
    throw new ChannelBreach("A message is not valid.", { cause: error });
  }
}

/** Splits a stream of bytes into messages, and stores no more of it than one message. */
export class FrameReader {
  readonly #limits: FrameLimits;
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = PREFIX_BYTES;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  *read(chunk: Buffer): Generator<unknown> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= this.#needed) {
      const bytes = Buffer.concat(this.#chunks);
      this.#chunks = [bytes];
      const { header, whole } = readPrefix(bytes, this.#limits);
      this.#needed = whole;
      if (bytes.length < whole) continue;
      this.#chunks = [bytes.subarray(whole)];
      this.#length -= whole;
      this.#needed = PREFIX_BYTES;
      yield decodeFrame(bytes.subarray(0, whole), header);
    }
  }
}

function readBlobSize(value: unknown): number | null {
  if (typeof value !== "object" || value === null || !("blob" in value)) return null;
  return Number.isSafeInteger(value.blob) ? Number(value.blob) : -1;
}
