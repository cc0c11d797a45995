import { TAR_BLOCK_BYTES } from "./tar-header.ts";

/** What a header block says, before anything that was said ahead of it. */
export interface TarBlock {
  readonly type: string;
  readonly bytes: number;
  readonly mode: number;
  /** As it stands there, for `tarText`. */
  readonly name: Uint8Array;
}

/** A block of zeros: two of them are the end of a tar. */
export function isEmptyBlock(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

/** Reads a header block. `null` if its checksum or one of its numbers is wrong: it is not one. */
export function readBlock(block: Uint8Array): TarBlock | null {
  if (block.length !== TAR_BLOCK_BYTES || numberIn(block, 148, 8) !== sumOf(block)) return null;
  const [mode, bytes] = [numberIn(block, 100, 8), numberIn(block, 124, 12)];
  if (mode === null || bytes === null) return null;
  return { type: String.fromCharCode(block[156] ?? 0), bytes, mode, name: nameIn(block) };
}

/** Text as it stands in a tar; `null` if it is not UTF-8. */
export function tarText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Up to the first NUL. */
export function untilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

/** The checksum counts itself as spaces. */
function sumOf(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < TAR_BLOCK_BYTES; at++) {
    if (at < 148 || at >= 156) sum += block[at] ?? 0;
  }
  return sum;
}

const OCTAL = /^ *([0-7]+)[ \0]*$/;

/** Octal digits, or the bytes of the number after a first one of 0x80: sizes beyond 8 GiB. */
function numberIn(block: Uint8Array, start: number, length: number): number | null {
  const field = block.subarray(start, start + length);
  if (field[0] === 0x80) {
    const value = field.subarray(1).reduce((total, byte) => total * 256 + byte, 0);
    return Number.isSafeInteger(value) ? value : null;
  }
  const [, digits] = OCTAL.exec(Buffer.from(field).toString("latin1")) ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 8);
}

const POSIX_MAGIC = "ustar\0";

/** GNU's own format has other things where POSIX has the first part of a long name. */
function nameIn(block: Uint8Array): Uint8Array {
  const name = untilNul(block.subarray(0, 100));
  const magic = Buffer.from(block.subarray(257, 263)).toString("latin1");
  const prefix = untilNul(block.subarray(345, 500));
  if (magic !== POSIX_MAGIC || prefix.length === 0) return name;
  return Buffer.concat([prefix, Buffer.from("/"), name]);
}
