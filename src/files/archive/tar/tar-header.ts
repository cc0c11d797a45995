/** One entry of a tar: always owned by root, and of the second day of 1980: no zip takes an older file. */
export interface TarEntry {
  /** Of a directory, with a slash at its end. */
  readonly path: string;
  readonly type: "file" | "directory";
  readonly bytes: number;
  readonly isExecutable: boolean;
}

/** Everything in a tar is a multiple of this long. */
export const TAR_BLOCK_BYTES = 512;

/** The ustar header of an entry, into a block of zeros. What it cannot hold, `paxBlocks` says. */
export function fillHeader(block: Uint8Array, { path, type, bytes, isExecutable }: TarEntry): void {
  fillUstar(block, {
    name: plainName(path),
    mode: type === "directory" || isExecutable ? 0o755 : 0o644,
    bytes: bytes > LARGEST_USTAR_BYTES ? 0 : bytes,
    flag: type === "directory" ? "5" : "0",
  });
}

/** What must stand before the header of an entry with a long or foreign name, or of a huge one. */
export function paxBlocks({ path, bytes }: TarEntry): Uint8Array | null {
  const isPlain = path.length <= LONGEST_NAME_BYTES && !NOT_PLAIN.test(path);
  if (isPlain && bytes <= LARGEST_USTAR_BYTES) return null;
  const records = Buffer.from(
    (isPlain ? "" : paxRecord(`path=${path}`)) +
      (bytes > LARGEST_USTAR_BYTES ? paxRecord(`size=${bytes}`) : ""),
  );
  const padding = -records.length & (TAR_BLOCK_BYTES - 1);
  const blocks = new Uint8Array(TAR_BLOCK_BYTES + records.length + padding);
  const name = plainName(`PaxHeaders/${path}`);
  fillUstar(blocks, { name, mode: 0o644, bytes: records.length, flag: "x" });
  blocks.set(records, TAR_BLOCK_BYTES);
  return blocks;
}

const LONGEST_NAME_BYTES = 100;
/** Eleven octal digits. */
const LARGEST_USTAR_BYTES = 8 ** 11 - 1;
const NOT_PLAIN = /[^\x20-\x7e]/;

/** For readers that know no pax: cut, and without what is not ASCII. */
function plainName(path: string): string {
  const name = path.length > LONGEST_NAME_BYTES ? path.slice(0, LONGEST_NAME_BYTES) : path;
  return NOT_PLAIN.test(name) ? name.replace(/[^\x20-\x7e]/g, "_") : name;
}

/** A record starts with its own length, of which that number is a part. */
function paxRecord(field: string): string {
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

/** In seconds: 1980-01-02. */
const TIME = 315_619_200;

function fillUstar(block: Uint8Array, { name, mode, bytes, flag }: UstarFields): void {
  const sum =
    fill(block, 0, name) +
    fill(block, 100, octal(mode, 7)) +
    fill(block, 108, "0000000\0" + "0000000\0") + // user and group
    fill(block, 124, octal(bytes, 11)) +
    fill(block, 136, octal(TIME, 11)) +
    fill(block, 148, "        ") + // the checksum counts as spaces
    fill(block, 156, flag) +
    fill(block, 257, "ustar\0" + "00") +
    fill(block, 329, "0000000\0" + "0000000\0"); // device
  fill(block, 148, `${octal(sum, 6)} `);
}

/** Writes ASCII and gives the sum of what it wrote. */
function fill(block: Uint8Array, offset: number, text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    block[offset + at] = code;
    sum += code;
  }
  return sum;
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, "0")}\0`;
}
