/** Bytes somebody else writes, kept up to a limit and counted beyond it. */
export class BoundedOutput {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  write(bytes: Buffer): void {
    const room = this.#limit - this.#kept;
    if (bytes.length > room) this.#truncated = true;
    if (room <= 0) return;
    const part = bytes.subarray(0, room);
    // A copy: a slice would keep the whole chunk it was read in.
    this.#chunks.push(Buffer.from(part));
    this.#kept += part.length;
  }

  /** As UTF-8; a character that the limit cut in two is left out. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    const end = this.#truncated ? wholeCharacters(bytes) : bytes.length;
    return bytes.toString("utf8", 0, end);
  }
}

/** Where the last whole character ends: at most three bytes of a begun one are looked at. */
function wholeCharacters(bytes: Buffer): number {
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
