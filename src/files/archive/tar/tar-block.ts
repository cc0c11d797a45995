import { TAR_BLOCK_BYTES } from "./tar-header.ts";

/** The fields of a header block, before extended headers override them. */
export interface TarBlock {
  readonly type: string;
  readonly bytes: number;
  readonly mode: number;
  /** The raw bytes of the name; decode them with {@link decodeTarText}. */
  readonly name: Uint8Array;
}

/** Whether a block is all zeros. Two empty blocks end a tar. */
export function isEmptyBlock(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

/** Parses a header block. Returns `null` if its length, its checksum or a number is invalid. */
export function parseTarBlock(block: Uint8Array): TarBlock | null {
  if (block.length !== TAR_BLOCK_BYTES || parseNumber(block, 148, 8) !== computeChecksum(block))
    return null;
  const [mode, bytes] = [parseNumber(block, 100, 8), parseNumber(block, 124, 12)];
  if (mode === null || bytes === null) return null;
  return { type: String.fromCharCode(block[156] ?? 0), bytes, mode, name: readName(block) };
}

/** Decodes text in a tar. Returns `null` if it is not valid UTF-8. */
export function decodeTarText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Returns the bytes before the first NUL, or all bytes if there is none. */
export function trimAtNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

/** Sums all bytes of a block, with the checksum field counted as spaces. */
function computeChecksum(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < TAR_BLOCK_BYTES; at++) {
    if (at < 148 || at >= 156) sum += block[at] ?? 0;
  }
  return sum;
}

const OCTAL = /^ *([0-7]+)[ \0]*$/;

/** Parses octal digits, or a big-endian number marked by a first byte of 0x80 (GNU, for sizes beyond 8 GiB). */
function parseNumber(block: Uint8Array, start: number, length: number): number | null {
  const field = block.subarray(start, start + length);
  if (field[0] === 0x80) {
    const value = field.subarray(1).reduce((total, byte) => total * 256 + byte, 0);
    return Number.isSafeInteger(value) ? value : null;
  }
  const [, digits] = OCTAL.exec(Buffer.from(field).toString("latin1")) ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 8);
}

const POSIX_MAGIC = "ustar\0";

/** Reads the name. Only the POSIX format has a name prefix; GNU's format uses that field for other data. */
function readName(block: Uint8Array): Uint8Array {
  const name = trimAtNul(block.subarray(0, 100));
  const magic = Buffer.from(block.subarray(257, 263)).toString("latin1");
  const prefix = trimAtNul(block.subarray(345, 500));
  if (magic !== POSIX_MAGIC || prefix.length === 0) return name;
  return Buffer.concat([prefix, Buffer.from("/"), name]);
}
