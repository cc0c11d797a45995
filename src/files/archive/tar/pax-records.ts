import { tarText } from "./tar-block.ts";

/** What pax records say about the entry after them. */
export interface PaxRecords {
  /** `null` if it is not UTF-8. */
  readonly path?: string | null;
  readonly bytes?: number;
  /** The entry's bytes are not the file's: they have holes. */
  readonly isSparse?: true;
}

/** Reads records of the form `length key=value\n`. `null` if they are not, or cannot be true. */
export function readPax(bytes: Uint8Array): PaxRecords | null {
  let said: PaxRecords = {};
  for (let rest = bytes; rest.length > 0; ) {
    const record = firstRecord(rest);
    if (record === null) return null;
    said = { ...said, ...meaningOf(record) };
    if (Number.isNaN(said.bytes)) return null;
    rest = rest.subarray(record.length);
  }
  return said;
}

interface PaxRecord {
  readonly length: number;
  readonly key: string;
  readonly value: Uint8Array;
}

const LONGEST_LENGTH = 8;
const [SPACE, EQUALS, NEWLINE] = [0x20, 0x3d, 0x0a];

function firstRecord(bytes: Uint8Array): PaxRecord | null {
  const space = bytes.subarray(0, LONGEST_LENGTH).indexOf(SPACE);
  const length = decimal(bytes.subarray(0, Math.max(space, 0)));
  const equals = bytes.indexOf(EQUALS, space);
  const isWhole = length <= bytes.length && bytes[length - 1] === NEWLINE;
  if (!isWhole || equals < 0 || equals >= length) return null;
  const key = Buffer.from(bytes.subarray(space + 1, equals)).toString("latin1");
  return { length, key, value: bytes.subarray(equals + 1, length - 1) };
}

function meaningOf({ key, value }: PaxRecord): PaxRecords {
  if (key === "path") return { path: tarText(value) };
  if (key === "size") return { bytes: decimal(value) };
  return key.startsWith("GNU.sparse.") ? { isSparse: true } : {};
}

/** `NaN` for what is not a whole number that can be counted to. */
function decimal(bytes: Uint8Array): number {
  const text = Buffer.from(bytes).toString("latin1");
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : Number.NaN;
}
