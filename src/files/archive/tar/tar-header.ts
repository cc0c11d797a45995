/** An entry of a tar. It is owned by root and dated January 2, 1980, because zip does not support older dates. */
export interface TarEntry {
  /** The path in the tar. The path of a directory ends with a slash. */
  readonly path: string;
  readonly type: "file" | "directory";
  readonly bytes: number;
  /** The permission bits, such as `0o644`. */
  readonly mode: number;
}

/** The block size of the tar format. Headers and contents are padded to full blocks. */
export const TAR_BLOCK_BYTES = 512;

/** Writes the ustar header of an entry into a block of zeros. {@link createPaxBlocks} adds fields that do not fit. */
export function fillTarHeader(block: Uint8Array, { path, type, bytes, mode }: TarEntry): void {
  fillUstar(block, {
    name: toPlainName(path),
    mode,
    bytes: bytes > MAX_USTAR_BYTES ? 0 : bytes,
    flag: type === "directory" ? "5" : "0",
  });
}

/**
 * Creates the pax blocks that must precede the header of an entry with a long or non-ASCII name, or with a
 * size beyond 8 GiB. Returns `null` if the header is enough.
 */
export function createPaxBlocks({ path, bytes }: TarEntry): Uint8Array | null {
  const isPlain = path.length <= MAX_NAME_BYTES && !NOT_PLAIN.test(path);
  if (isPlain && bytes <= MAX_USTAR_BYTES) return null;
  const records = Buffer.from(
    (isPlain ? "" : createPaxRecord(`path=${path}`)) +
      (bytes > MAX_USTAR_BYTES ? createPaxRecord(`size=${bytes}`) : ""),
  );
  const padding = -records.length & (TAR_BLOCK_BYTES - 1);
  const blocks = new Uint8Array(TAR_BLOCK_BYTES + records.length + padding);
  const name = toPlainName(`PaxHeaders/${path}`);
  fillUstar(blocks, { name, mode: 0o644, bytes: records.length, flag: "x" });
  blocks.set(records, TAR_BLOCK_BYTES);
  return blocks;
}

const MAX_NAME_BYTES = 100;
/** The largest number with 11 octal digits. */
const MAX_USTAR_BYTES = 8 ** 11 - 1;
const NOT_PLAIN = /[^\x20-\x7e]/;

/** Returns a truncated ASCII name for readers that do not support pax. */
function toPlainName(path: string): string {
  const name = path.length > MAX_NAME_BYTES ? path.slice(0, MAX_NAME_BYTES) : path;
  return NOT_PLAIN.test(name) ? name.replace(/[^\x20-\x7e]/g, "_") : name;
}

/** Creates a record. It starts with its length, which includes the digits of the length. */
function createPaxRecord(field: string): string {
  const rest = Buffer.byteLength(field) + 2;
  let length = rest;
  while (length !== rest + String(length).length) length = rest + String(length).length;
  return `${length} ${field}\n`;
}

interface UstarFields {
  readonly name: string;
  readonly mode: number;
  readonly bytes: number;
  readonly flag: string;
}

/** 1980-01-02, in seconds since 1970. */
const MODIFIED_SECONDS = 315_619_200;

function fillUstar(block: Uint8Array, { name, mode, bytes, flag }: UstarFields): void {
  const sum =
    writeAscii(block, 0, name) +
    writeAscii(block, 100, toOctal(mode, 7)) +
    writeAscii(block, 108, "0000000\0" + "0000000\0") + // user and group
    writeAscii(block, 124, toOctal(bytes, 11)) +
    writeAscii(block, 136, toOctal(MODIFIED_SECONDS, 11)) +
    writeAscii(block, 148, "        ") + // the checksum counts itself as spaces
    writeAscii(block, 156, flag) +
    writeAscii(block, 257, "ustar\0" + "00") +
    writeAscii(block, 329, "0000000\0" + "0000000\0"); // device
  writeAscii(block, 148, `${toOctal(sum, 6)} `);
}

/** Writes ASCII and returns the sum of its bytes. */
function writeAscii(block: Uint8Array, offset: number, text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    block[offset + at] = code;
    sum += code;
  }
  return sum;
}

function toOctal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, "0")}\0`;
}
