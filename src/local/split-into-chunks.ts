/**
 * Splits a text into the chunks of a stream. A chunk has at least 16 characters (the last one may be shorter), and
 * there are at most 500 chunks. Joined, they equal the text.
 */
export function splitIntoChunks(text: string): readonly string[] {
  const size = Math.max(MIN_CHUNK_LENGTH, Math.ceil(text.length / MAX_CHUNKS));
  const chunks: string[] = [];
  let start = 0;
  while (start < text.length) {
    const end = toCharacterBoundary(text, start + size);
    chunks.push(text.slice(start, end));
    start = end;
  }
  return chunks;
}

/** Returns `index`, moved past the end of a surrogate pair if it would split one, and clamped to the text. */
export function toCharacterBoundary(text: string, index: number): number {
  if (index <= 0 || index >= text.length) return Math.min(Math.max(index, 0), text.length);
  const isCut =
    isLowSurrogate(text.charCodeAt(index)) && isHighSurrogate(text.charCodeAt(index - 1));
  return isCut ? index + 1 : index;
}

const MIN_CHUNK_LENGTH = 16;
const MAX_CHUNKS = 500;

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
