/** A text in pieces that make it whole again: small ones, yet never more than a few hundred. */
export function chunksOf(text: string): readonly string[] {
  const size = Math.max(smallest, Math.ceil(text.length / most));
  const chunks: string[] = [];
  let start = 0;
  while (start < text.length) {
    const end = wholeAt(text, start + size);
    chunks.push(text.slice(start, end));
    start = end;
  }
  return chunks;
}

/** That place in a text, or the next one that does not cut a character in two. */
export function wholeAt(text: string, place: number): number {
  if (place <= 0 || place >= text.length) return Math.min(Math.max(place, 0), text.length);
  const isCut = isLow(text.charCodeAt(place)) && isHigh(text.charCodeAt(place - 1));
  return isCut ? place + 1 : place;
}

const smallest = 16;
const most = 500;

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
