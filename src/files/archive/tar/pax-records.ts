import { decodeTarText } from "./tar-block.ts";

/** The fields that pax records set for the next entry. */
export interface PaxRecords {
  /** The entry's path, or `null` if it is not valid UTF-8. */
  readonly path?: string | null;
  readonly bytes?: number;
  /** Set if the entry is a sparse file, whose stored bytes omit the holes. */
  readonly isSparse?: true;
}

/** Parses records of the form `length key=value\n`. Returns `null` if one is malformed or its size is not a valid integer. */
export function parsePax(bytes: Uint8Array): PaxRecords | null {
  let records: PaxRecords = {};
  for (let rest = bytes; rest.length > 0; ) {
    const record = parseFirstRecord(rest);
    if (record === null) return null;
    records = { ...records, ...interpretRecord(record) };
    if (Number.isNaN(records.bytes)) return null;
    rest = rest.subarray(record.length);
  }
  return records;
}

interface PaxRecord {
  readonly length: number;
  readonly key: string;
  readonly value: Uint8Array;
}

const MAX_LENGTH_DIGITS = 8;
const [SPACE, EQUALS, NEWLINE] = [0x20, 0x3d, 0x0a];

function parseFirstRecord(bytes: Uint8Array): PaxRecord | null {
  const space = bytes.subarray(0, MAX_LENGTH_DIGITS).indexOf(SPACE);
  const length = parseDecimal(bytes.subarray(0, Math.max(space, 0)));
  const equals = bytes.indexOf(EQUALS, space);
  const isWhole = length <= bytes.length && bytes[length - 1] === NEWLINE;
  if (!isWhole || equals < 0 || equals >= length) return null;
  const key = Buffer.from(bytes.subarray(space + 1, equals)).toString("latin1");
  return { length, key, value: bytes.subarray(equals + 1, length - 1) };
}

function interpretRecord({ key, value }: PaxRecord): PaxRecords {
  if (key === "path") return { path: decodeTarText(value) };
  if (key === "size") return { bytes: parseDecimal(value) };
  return key.startsWith("GNU.sparse.") ? { isSparse: true } : {};
}

/** Parses decimal digits. Returns `NaN` if they are not a safe integer. */
function parseDecimal(bytes: Uint8Array): number {
  const text = Buffer.from(bytes).toString("latin1");
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : Number.NaN;
}
