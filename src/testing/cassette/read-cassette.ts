import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { getErrorMessage } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { isTooDeep, parseJson, type UnknownRecord } from "../../base/json.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { CassetteError } from "./cassette-error.ts";
import { checkExchange } from "./check-exchange.ts";
import { digestBlob } from "./read-request.ts";
import {
  type CassetteHeader,
  FORMAT,
  type RecordedExchange,
  type Recording,
} from "./recorded-exchange.ts";

/** A longer cassette is refused: it is read into memory. */
export const MAX_CASSETTE_BYTES = 512 * 1024 * 1024;

/** Reads and checks a cassette. Nothing in it is trusted: it may be cut off, damaged, or made to do harm. */
export async function readCassette(path: string): Promise<Recording> {
  const { size } = await findFile(path);
  if (size > MAX_CASSETTE_BYTES) {
    const most = `at most ${MAX_CASSETTE_BYTES} bytes`;
    throw new CassetteError(
      `The cassette ${path} has ${size} bytes. Only ${most} can be read: record a shorter run.`,
    );
  }
  const reader = new LineReader();
  let number = 0;
  for await (const line of readLines(path)) {
    number += 1;
    try {
      reader.read(line);
    } catch (error) {
      throw new CassetteError(
        `Line ${number} of ${path} is not a line of a cassette: ${getErrorMessage(error)}. Restore the file, or record it again.`,
        { cause: error },
      );
    }
  }
  const recording = reader.finish();
  if (recording) return recording;
  throw new CassetteError(
    `The cassette ${path} is incomplete: its last line is missing. Restore the file, or record it again.`,
  );
}

/** Splits a file at its line feeds. Node's `readline` also splits at U+2028, which JSON does not escape. */
async function* readLines(path: string): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  for await (const chunk of createReadStream(path)) {
    const bytes: Uint8Array = chunk;
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      yield Buffer.concat([...parts, bytes.subarray(start, end)]).toString();
      parts = [];
      start = end + 1;
    }
    if (start < bytes.length) parts.push(bytes.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString();
}

async function findFile(path: string) {
  try {
    const found = await stat(path);
    if (found.isFile()) return found;
  } catch (error) {
    if (getErrorCode(error) !== "ENOENT") {
      throw new CassetteError(
        `The cassette ${path} cannot be read: ${getErrorMessage(error)}. Check its permissions.`,
        { cause: error },
      );
    }
    throw new CassetteError(
      `The cassette ${path} does not exist. Record it with mode: "record", or use mode: "auto" to record it when it is missing.`,
      { cause: error },
    );
  }
  throw new CassetteError(`The cassette ${path} is not a file. Pass the path of a file.`);
}

/** Reads the lines of a cassette. Throws plain errors, without the line's number. */
class LineReader {
  #header: CassetteHeader | null = null;
  #expected: number | null = null;
  readonly #exchanges = new Map<number, RecordedExchange>();
  readonly #blobs = new Map<string, Uint8Array>();

  read(text: string): void {
    const parsed = parseJson(text);
    if (!parsed.ok) throw new Error("it is not JSON");
    const line = parsed.value;
    if (!isPlainObject(line) || isTooDeep(line)) throw new Error("it is not a JSON object");
    if (this.#expected !== null) throw new Error("it follows the last line");
    if (this.#header === null) this.#header = checkHeader(line);
    else if ("blob" in line) this.#readBlob(line);
    else if ("end" in line) this.#expected = Number(line["exchanges"]);
    else this.#readExchange(line);
  }

  /** Returns the whole cassette, or `null` if lines are missing. */
  finish(): Recording | null {
    if (this.#header === null || this.#expected !== this.#exchanges.size) return null;
    const exchanges = [...this.#exchanges.values()].sort((a, b) => a.exchange - b.exchange);
    return { header: this.#header, exchanges, blobs: this.#blobs };
  }

  #readBlob({ blob, text, base64 }: UnknownRecord): void {
    if (typeof text !== "string" && typeof base64 !== "string")
      throw new Error("it has no content");
    const bytes =
      typeof text === "string" ? Buffer.from(text) : Buffer.from(String(base64), "base64");
    if (digestBlob(bytes) !== blob) throw new Error("its content does not have its SHA-256");
    this.#blobs.set(blob, bytes);
  }

  #readExchange(line: UnknownRecord): void {
    const exchange = checkExchange(line, this.#blobs);
    if (this.#exchanges.has(exchange.exchange)) throw new Error("its number occurs twice");
    this.#exchanges.set(exchange.exchange, exchange);
  }
}

function checkHeader({ cassette, version, recordedAt }: UnknownRecord): CassetteHeader {
  if (typeof cassette !== "number")
    throw new Error("the first line must be the header of a cassette");
  if (cassette !== FORMAT) {
    throw new Error(
      `its format is ${cassette}, and this version of weakincentives reads ${FORMAT}`,
    );
  }
  if (typeof version !== "string" || typeof recordedAt !== "string" || !isDate(recordedAt)) {
    throw new Error("the header has no version or date");
  }
  return { cassette, version, recordedAt };
}

function isDate(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
