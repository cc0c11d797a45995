/** How long pieces of a text are, in tokens of four UTF-8 bytes. */
export interface ChunkSizes {
  readonly maxTokens: number;
  /** How much of the end of a piece the next one begins with; at most half of `maxTokens`. */
  readonly overlapTokens: number;
}

/** A piece of a text, and where in it. */
export interface Chunk {
  /** The place of its first UTF-16 unit. */
  readonly start: number;
  readonly text: string;
}

/** As the API cuts where nothing else is asked for. */
export const defaultSizes: ChunkSizes = Object.freeze({ maxTokens: 800, overlapTokens: 400 });

const BYTES_A_TOKEN = 4;

/**
 * Cuts a text into overlapping pieces, at ends of lines or else between words where there are any
 * in the last quarter of a piece. A piece is thus at least three quarters full and shares at most
 * half of its size with the next, which is why the time is linear.
 */
export function* chunks(text: string, sizes: ChunkSizes = defaultSizes): Generator<Chunk> {
  const most = sizes.maxTokens * BYTES_A_TOKEN;
  const overlap = Math.min(sizes.overlapTokens * BYTES_A_TOKEN, most / 2);
  let start = 0;
  while (start < text.length) {
    const end = endOfChunk(text, start, most);
    const piece = text.slice(start, end);
    if (piece.trim() !== "") yield { start, text: piece };
    if (end >= text.length) return;
    const next = startOfOverlap(text, end, overlap);
    start = next > start ? next : end; // sizes of a few bytes: a step forward all the same
  }
}

function endOfChunk(text: string, start: number, most: number): number {
  let at = start;
  let bytes = 0;
  let lineEnd = 0;
  let wordEnd = 0;
  while (at < text.length) {
    const code = Number(text.codePointAt(at));
    bytes += utf8Length(code);
    if (bytes > most) return lineEnd || wordEnd || at;
    at += code > 0xffff ? 2 : 1;
    if (bytes * 4 < most * 3) continue;
    if (code === NEWLINE) lineEnd = at;
    if (isSpace(code)) wordEnd = at;
  }
  return text.length;
}

/** At most that many bytes back, and from there at the next beginning of a line or else of a word. */
function startOfOverlap(text: string, end: number, overlap: number): number {
  let at = end;
  let bytes = 0;
  let lineStart = end;
  let wordStart = end;
  while (true) {
    const before = codeBefore(text, at);
    if (isSpace(before)) wordStart = at;
    if (before === NEWLINE) lineStart = at;
    bytes += utf8Length(before);
    if (bytes > overlap) break;
    at -= before > 0xffff ? 2 : 1;
  }
  const isLate = (place: number) => (place - at) * 2 > end - at;
  if (!isLate(lineStart)) return lineStart;
  return isLate(wordStart) ? at : wordStart;
}

function codeBefore(text: string, at: number): number {
  const pair = Number(text.codePointAt(at - 2)); // not a number before the first character
  return pair > 0xffff ? pair : text.charCodeAt(at - 1);
}

const NEWLINE = 0x0a;

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function utf8Length(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}
