import { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { messageOf } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import { show } from "../base/show.ts";

/** The whole lines of a file, without their line breaks. What follows the last one is no line. */
export class RecordLines implements AsyncIterable<Buffer> {
  readonly #file: FileHandle;
  /** Lines read so far. */
  count = 0;
  /** Where the last whole line ended. */
  end = 0;
  /** Bytes read so far. */
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

/** A record as a line, its break included; a string says why it cannot be one. */
export function lineOf(record: object): { readonly line: Buffer } | string {
  try {
    const text: unknown = JSON.stringify(record);
    if (typeof text === "string" && text.startsWith("{")) return { line: Buffer.from(`${text}\n`) };
    return `it is ${show(record)}`;
  } catch (error) {
    return messageOf(error); // it has a cycle or a bigint
  }
}

/** The record of a line; a string says why it is none. */
export function recordOf(line: Buffer): { readonly record: object } | string {
  const text = textOf(line);
  if (text === null) return "it is not UTF-8";
  const json = parseJson(text);
  if (!json.ok) return json.problem;
  return isPlainObject(json.value) ? { record: json.value } : `it is ${show(json.value)}`;
}

const BREAK = 0x0a;
const CHUNK_BYTES = 64 * 1024;

function textOf(line: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
  } catch {
    return null;
  }
}
