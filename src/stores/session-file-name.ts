import { Buffer } from "node:buffer";
import { join } from "node:path";
import { show } from "../base/show.ts";
import { SessionStoreError } from "../session/session-store.ts";

/** What of a session is where. */
export interface SessionPaths {
  readonly id: string;
  readonly file: string;
  readonly lock: string;
}

/** Where a session is kept. Refuses an id that no file can be named after. */
export function pathsOf(directory: string, id: string): SessionPaths {
  const name = join(directory, fileNameOf(id));
  return { id, file: `${name}${ENDING}`, lock: `${name}.lock` };
}

/** The id of the session whose file this is; `null` for any other file. */
export function idOfFile(file: string): string | null {
  return file.endsWith(ENDING) ? idOfName(file.slice(0, -ENDING.length)) : null;
}

/**
 * The name of a session's file, without its ending: lower-case letters, digits, `-` and `_` as they
 * are, all else as `%` and two digits a byte. So no id leaves the directory, and two ids have two
 * names also where case does not count. A name too long for a file is written as one number.
 */
function fileNameOf(id: string): string {
  const bytes = Buffer.from(checkId(id), "utf8");
  const plain = bytes.toString("latin1").replace(/[^a-z0-9_-]/g, escaped);
  if (plain.length > LONGEST_NAME) return `~${BigInt(`0x1${bytes.toString("hex")}`).toString(36)}`;
  return RESERVED.test(plain) ? `${escaped(plain)}${plain.slice(1)}` : plain;
}

/** The id that `fileNameOf` made this name of; `null` for any other name. */
function idOfName(name: string): string | null {
  const bytes = name.startsWith("~") ? bytesOfNumber(name.slice(1)) : bytesOfPlain(name);
  const id = bytes.toString("utf8");
  return isFit(id) && fileNameOf(id) === name ? id : null;
}

const ENDING = ".jsonl";
const LONGEST_ID = 128;
/** File systems allow 255 bytes, endings included. */
const LONGEST_NAME = 200;
/** What Windows takes for a device, whatever its ending. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

function checkId(id: string): string {
  if (isFit(id)) return id;
  const remedy = "give the session another id";
  throw new SessionStoreError(
    `The id of a stored session must be 1-${LONGEST_ID} bytes of text, got ${show(id)}. ${remedy}`,
  );
}

function isFit(id: unknown): id is string {
  if (typeof id !== "string" || id === "" || id.length > LONGEST_ID) return false;
  const bytes = Buffer.from(id, "utf8");
  return bytes.length <= LONGEST_ID && bytes.toString("utf8") === id; // no lone surrogates
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

function bytesOfPlain(name: string): Buffer {
  const text = name.replace(/%([0-9a-f]{2})/g, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(text, "latin1");
}

function bytesOfNumber(digits: string): Buffer {
  let number = 0n;
  for (const digit of digits) {
    const value = Number.parseInt(digit, 36);
    if (Number.isNaN(value)) return Buffer.alloc(0);
    number = number * 36n + BigInt(value);
  }
  return Buffer.from(number.toString(16).slice(1), "hex");
}
