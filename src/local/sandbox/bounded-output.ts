/** Collects bytes up to a limit and records whether more were written. */
export class BoundedOutput {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #storedBytes = 0;
  #truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  write(bytes: Buffer): void {
    const room = this.#limit - this.#storedBytes;
    if (bytes.length > room) this.#truncated = true;
    if (room <= 0) return;
    const part = bytes.subarray(0, room);
    // Copy the bytes: a slice would retain the whole chunk it was read from.
    this.#chunks.push(Buffer.from(part));
    this.#storedBytes += part.length;
  }

  /** Returns the bytes. A character cut by the limit is dropped. */
  toBytes(): Buffer {
    const bytes = Buffer.concat(this.#chunks);
    return this.#truncated ? bytes.subarray(0, countWholeCharacterBytes(bytes)) : bytes;
  }

  /** Decodes the output as UTF-8. A character cut by the limit is dropped. */
  toText(): string {
    return this.toBytes().toString("utf8");
  }
}

/** Returns the length in bytes without an incomplete last character. Inspects at most three bytes. */
function countWholeCharacterBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.readUInt8(bytes.length - back);
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < needed ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}
