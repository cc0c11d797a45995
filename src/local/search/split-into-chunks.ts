/** Sizes of chunks, in tokens of four UTF-8 bytes. */
export interface ChunkSizes {
  readonly maxTokens: number;
  /** How much of a chunk's end is repeated in the next one; at most half of `maxTokens`. */
  readonly overlapTokens: number;
}

/** A part of a text and its position. */
export interface Chunk {
  /** Index of its first UTF-16 unit in the text. */
  readonly start: number;
  readonly text: string;
}

/** The API's default sizes. */
export const defaultChunkSizes: ChunkSizes = Object.freeze({ maxTokens: 800, overlapTokens: 400 });

const BYTES_PER_TOKEN = 4;

/**
 * Splits a text into overlapping chunks. It splits at a line end or else between words, if there is one
 * in the last quarter of a chunk. So a chunk is at least three quarters full and shares at most half
 * of its size with the next one, so the time is linear.
 */
export function* splitIntoChunks(
  text: string,
  sizes: ChunkSizes = defaultChunkSizes,
): Generator<Chunk> {
  const most = sizes.maxTokens * BYTES_PER_TOKEN;
  const overlap = Math.min(sizes.overlapTokens * BYTES_PER_TOKEN, most / 2);
  let start = 0;
  while (start < text.length) {
    const end = findChunkEnd(text, start, most);
    const piece = text.slice(start, end);
    if (piece.trim() !== "") yield { start, text: piece };
    if (end >= text.length) return;
    const next = findOverlapStart(text, end, overlap);
    start = next > start ? next : end; // advance even if chunks have only a few bytes
  }
}

function findChunkEnd(text: string, start: number, most: number): number {
  let at = start;
  let bytes = 0;
  let lineEnd = 0;
  let wordEnd = 0;
  while (at < text.length) {
    const code = Number(text.codePointAt(at));
    bytes += countUtf8Bytes(code);
    if (bytes > most) return lineEnd || wordEnd || at;
    at += code > 0xffff ? 2 : 1;
    if (bytes * 4 < most * 3) continue;
    if (code === NEWLINE) lineEnd = at;
    if (isSpace(code)) wordEnd = at;
  }
  return text.length;
}

/** Moves at most `overlap` bytes backward, then forward to the next start of a line, or else of a word. */
function findOverlapStart(text: string, end: number, overlap: number): number {
  let at = end;
  let bytes = 0;
  let lineStart = end;
  let wordStart = end;
  while (true) {
    const before = readCodePointBefore(text, at);
    if (isSpace(before)) wordStart = at;
    if (before === NEWLINE) lineStart = at;
    bytes += countUtf8Bytes(before);
    if (bytes > overlap) break;
    at -= before > 0xffff ? 2 : 1;
  }
  const isLate = (place: number) => (place - at) * 2 > end - at;
  if (!isLate(lineStart)) return lineStart;
  return isLate(wordStart) ? at : wordStart;
}

function readCodePointBefore(text: string, at: number): number {
  const pair = Number(text.codePointAt(at - 2)); // NaN before the first character
  return pair > 0xffff ? pair : text.charCodeAt(at - 1);
}

const NEWLINE = 0x0a;

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function countUtf8Bytes(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}
