import { Buffer } from "node:buffer";
import { join } from "node:path";
import { checkSessionId, isSessionId } from "./session-id.ts";

/** The paths of a session's files. */
export interface SessionPaths {
  readonly id: string;
  readonly file: string;
  readonly lock: string;
  /** Counts the claims of the session. */
  readonly claim: string;
  readonly checkpoint: string;
  /** A checkpoint that is being written. */
  readonly newCheckpoint: string;
}

/** Returns the paths of a session's files. Throws for an id that cannot be a file name. */
export function getSessionPaths(directory: string, id: string): SessionPaths {
  const name = join(directory, encodeId(id));
  return {
    id,
    file: `${name}${EXTENSION}`,
    lock: `${name}.lock`,
    claim: `${name}.claim`,
    checkpoint: `${name}.checkpoint`,
    newCheckpoint: `${name}.checkpoint.new`,
  };
}

/** Returns the id of the session with this file name, or `null` for any other file. */
export function parseFileName(file: string): string | null {
  return file.endsWith(EXTENSION) ? decodeId(file.slice(0, -EXTENSION.length)) : null;
}

/**
 * Returns a session's file name without its extension. Lowercase letters, digits, `-` and `_` stay;
 * every other byte becomes `%` and two hex digits. So no id leaves the directory, and different ids
 * have different names even on a case-insensitive file system. A name that is too long is encoded
 * as one number in base 36.
 */
function encodeId(id: string): string {
  const bytes = Buffer.from(checkSessionId(id), "utf8");
  const plain = bytes.toString("latin1").replace(/[^a-z0-9_-]/g, escapeByte);
  if (plain.length > MAX_NAME_LENGTH)
    return `~${BigInt(`0x1${bytes.toString("hex")}`).toString(36)}`;
  return RESERVED.test(plain) ? `${escapeByte(plain)}${plain.slice(1)}` : plain;
}

/** Returns the id that was encoded in a file name, or `null` for any other name. */
function decodeId(name: string): string | null {
  const bytes = name.startsWith("~") ? decodeNumber(name.slice(1)) : decodePlain(name);
  const id = bytes.toString("utf8");
  return isSessionId(id) && encodeId(id) === name ? id : null;
}

const EXTENSION = ".jsonl";
/** File systems allow 255 bytes, including extensions. */
const MAX_NAME_LENGTH = 200;
/** Device names on Windows, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

function decodePlain(name: string): Buffer {
  const text = name.replace(/%([0-9a-f]{2})/g, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(text, "latin1");
}

function decodeNumber(digits: string): Buffer {
  let number = 0n;
  for (const digit of digits) {
    const value = Number.parseInt(digit, 36);
    if (Number.isNaN(value)) return Buffer.alloc(0);
    number = number * 36n + BigInt(value);
  }
  return Buffer.from(number.toString(16).slice(1), "hex");
}
