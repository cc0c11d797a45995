/**
 * Splits a text into the chunks of a stream. Joined, they equal the text. The first 400 chunks have 16 characters, and
 * each further one is a quarter longer, so that a text of any length has at most 500. The last one may be shorter.
 * The chunks of a text's start do not depend on what follows it: see {@link TextChunks}.
 */
export function splitIntoChunks(text: string): readonly string[] {
  const chunks = new TextChunks();
  const whole = chunks.add(text);
  return chunks.rest === "" ? whole : [...whole, chunks.rest];
}

/** Splits a text that is still being written into the same chunks as {@link splitIntoChunks}. */
export class TextChunks {
  #rest = "";
  #count = 0;

  /** The text that no chunk contains yet. */
  get rest(): string {
    return this.#rest;
  }

  /** Adds text. Returns the chunks that are now complete. */
  add(text: string): readonly string[] {
    const all = this.#rest + text;
    const chunks: string[] = [];
    let start = 0;
    // The character after a chunk shows whether the chunk ends within a surrogate pair.
    for (let size = this.#nextSize; start + size < all.length; size = this.#nextSize) {
      const end = toCharacterBoundary(all, start + size);
      chunks.push(all.slice(start, end));
      start = end;
      this.#count++;
    }
    this.#rest = all.slice(start);
    return chunks;
  }

  get #nextSize(): number {
    const steps = Math.max(0, this.#count + 1 - EQUAL_CHUNKS);
    return Math.floor(CHUNK_LENGTH * GROWTH ** steps);
  }
}

const CHUNK_LENGTH = 16;
const EQUAL_CHUNKS = 400;
const GROWTH = 1.25;

/** Returns `index`, moved past the end of a surrogate pair if it would split one, and clamped to the text. */
export function toCharacterBoundary(text: string, index: number): number {
  if (index <= 0 || index >= text.length) return Math.min(Math.max(index, 0), text.length);
  const isCut =
    isLowSurrogate(text.charCodeAt(index)) && isHighSurrogate(text.charCodeAt(index - 1));
  return isCut ? index + 1 : index;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
