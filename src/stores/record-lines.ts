import { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { getErrorMessage } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import { quoteValue } from "../base/quote-value.ts";
import { PathRefusal } from "../host/path-refusal.ts";

/**
 * Reads the complete lines of a file, without line breaks. Text after the last line break is not a
 * line. Holds at most one line in memory, and throws `PathRefusal` if it exceeds `MAX_RECORD_BYTES`.
 */
export class RecordLines implements AsyncIterable<Buffer> {
  readonly #file: FileHandle;
  readonly #stop: number;
  /** Number of lines read so far. */
  count = 0;
  /** Offset of the end of the last complete line. */
  end: number;
  /** Offset of the first byte that is not read yet. */
  size: number;

  /**
   * Reads from `start`, where a line must begin, up to `stop`, because a file may grow faster than it is read.
   */
  constructor(file: FileHandle, stop: number, start = 0) {
    this.#file = file;
    this.#stop = stop;
    this.end = start;
    this.size = start;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    return this.#read({ keepsLines: true });
  }

  /** Reads all lines without holding them in memory. */
  async skipAll(): Promise<void> {
    for await (const _line of this.#read({ keepsLines: false }));
  }

  async *#read({ keepsLines }: { readonly keepsLines: boolean }): AsyncGenerator<Buffer> {
    let begun: Buffer[] = [];
    for (;;) {
      const chunk = await this.#readChunk();
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
      if (keepsLines) begun.push(chunk.subarray(start));
      this.size += chunk.length;
      if (this.size - this.end > MAX_RECORD_BYTES) throw createLongLineRefusal(this.count + 1);
    }
  }

  async #readChunk(): Promise<Buffer> {
    const bytes = Math.min(CHUNK_BYTES, this.#stop - this.size);
    if (bytes <= 0) return NOTHING;
    const read = await this.#file.read(Buffer.allocUnsafe(bytes), 0, bytes, this.size);
    return read.buffer.subarray(0, read.bytesRead);
  }
}

/** The largest record that is stored or read, as a line. */
export const MAX_RECORD_BYTES = 128 * 1024 ** 2;

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

const NOTHING = Buffer.alloc(0);
const BREAK = 0x0a;
const CHUNK_BYTES = 64 * 1024;

function createLongLineRefusal(line: number): PathRefusal {
  const limit = `${MAX_RECORD_BYTES.toLocaleString("en-US")} bytes`;
  const remedy = "Restore a copy of the file, or remove that line and everything after it.";
  return new PathRefusal(`line ${line} is longer than ${limit}`, remedy);
}

function decodeLine(line: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
  } catch {
    return null;
  }
}
