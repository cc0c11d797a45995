import { isUtf8 } from "node:buffer";
import type { GrepMatch } from "../filesystem.ts";

/** The matches in a file, and the number of lines that are too long to search. */
export interface FileMatches {
  readonly matches: readonly GrepMatch[];
  readonly longLines: number;
}

/** Longer lines are skipped: they are rarely prose or code, and a pattern may take very long on them. */
const MAX_LINE_LENGTH = 100_000;

/** A line with more bytes has more characters than a line may have, in any script. */
const MAX_LINE_BYTES = 4 * MAX_LINE_LENGTH;

const MAX_SHOWN_LENGTH = 2000;
const NEWLINE = 10;
const EMPTY = Buffer.alloc(0);
const LONG_LINE = Buffer.alloc(MAX_LINE_LENGTH + 1, " ");
const NO_MATCHES: FileMatches = { matches: [], longLines: 0 };

/** Searches the lines of text files that are read in chunks. Memory is bounded by the chunks and one line. */
export class LineSearch {
  readonly #expression: RegExp;

  constructor(expression: RegExp) {
    this.#expression = expression;
  }

  /** Finds up to `maxMatches` lines. A file with a NUL or bytes that are not UTF-8 is binary and has no matches. */
  search(path: string, chunks: Iterable<Uint8Array>, maxMatches: number): FileMatches {
    const matches: GrepMatch[] = [];
    let longLines = 0;
    let number = 0;
    for (const lines of splitChunks(chunks)) {
      if (lines === null) return NO_MATCHES;
      for (const line of lines) {
        number += 1;
        const text = line.endsWith("\r") ? line.slice(0, -1) : line;
        if (text.length > MAX_LINE_LENGTH) longLines += 1;
        else if (matches.length < maxMatches && this.#expression.test(text)) {
          matches.push({ path, line: number, text: cutLine(text) });
        }
      }
    }
    return { matches, longLines };
  }
}

/**
 * Splits chunks into lines, several at a time. Replaces a line that is too long with spaces.
 * Yields `null` for a binary file.
 */
function* splitChunks(chunks: Iterable<Uint8Array>): Generator<readonly string[] | null> {
  let rest: Buffer = EMPTY;
  for (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (chunk.includes(0)) return yield null;
    const end = chunk.lastIndexOf(NEWLINE);
    if (end < 0) rest = appendRest(rest, chunk);
    else {
      // The start of a line that is too long was dropped, so its remaining bytes may start within a character.
      const whole = chunk.subarray(rest === LONG_LINE ? chunk.indexOf(NEWLINE) : 0, end);
      const lines = decode(rest.length === 0 ? whole : Buffer.concat([rest, whole]));
      yield lines;
      if (lines === null) return;
      rest = Buffer.from(chunk.subarray(end + 1)); // a copy, because the chunk may be reused
    }
  }
  if (rest.length > 0) yield decode(rest);
}

/** Appends to a line without a newline, until it is too long. */
function appendRest(rest: Buffer, chunk: Buffer): Buffer {
  const isLong = rest === LONG_LINE || rest.length + chunk.length > MAX_LINE_BYTES;
  return isLong ? LONG_LINE : Buffer.concat([rest, chunk]);
}

function decode(bytes: Buffer): readonly string[] | null {
  return isUtf8(bytes) ? bytes.toString().split("\n") : null;
}

function cutLine(text: string): string {
  if (text.length <= MAX_SHOWN_LENGTH) return text;
  return `${text.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…`;
}
