import { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { getErrorMessage } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import { quoteValue } from "../base/quote-value.ts";

/**
 * Reads the complete lines of a file, without line breaks. Text after the last line break is not a
 * line.
 */
export class RecordLines implements AsyncIterable<Buffer> {
  readonly #file: FileHandle;
  /** Number of lines read so far. */
  count = 0;
  /** Offset of the end of the last complete line. */
  end = 0;
  /** Number of bytes read so far. */
  size = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    let begun: Buffer[] = [];
    for (;;) {
      const read = await this.#file.read(
        Buffer.allocUnsafe(CHUNK_BYTES),
        0,
        CHUNK_BYTES,
        this.size,
      );
      const chunk = read.buffer.subarray(0, read.bytesRead);
      if (chunk.length === 0) return;
      let start = 0;
      for (let stop = chunk.indexOf(BREAK); stop >= 0; stop = chunk.indexOf(BREAK, start)) {
        const line = Buffer.concat([...begun, chunk.subarray(start, stop)]);
        begun = [];
        start = stop + 1;
        this.count += 1;
        this.end = this.size + start;
        yield line;
      }
      begun.push(chunk.subarray(start));
      this.size += chunk.length;
    }
  }
}

/** Serializes a record as a line with its line break, or returns the reason why it cannot. */
export function toLine(record: object): { readonly line: Buffer } | string {
  try {
    const text: unknown = JSON.stringify(record);
    if (typeof text === "string" && text.startsWith("{")) return { line: Buffer.from(`${text}\n`) };
    return `it is ${quoteValue(record)}`;
  } catch (error) {
    return getErrorMessage(error); // the record has a cycle or a bigint
  }
}

/** Parses the record of a line, or returns the reason why it is not a record. */
export function parseLine(line: Buffer): { readonly record: object } | string {
  const text = decodeLine(line);
  if (text === null) return "it is not UTF-8";
  const json = parseJson(text);
  if (!json.ok) return json.problem;
  return isPlainObject(json.value) ? { record: json.value } : `it is ${quoteValue(json.value)}`;
}

const BREAK = 0x0a;
const CHUNK_BYTES = 64 * 1024;

function decodeLine(line: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
  } catch {
    return null;
  }
}
