/**
 * Removes what a reader cannot see from a server's text: control characters except tabs and line breaks,
 * characters that are invisible or change the direction of text, and lone surrogates.
 */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll(/\r\n?/g, "\n").replaceAll(INVISIBLE, "");
}

/** Cleans a server's text and cuts it to `maxChars`. A note at the end says how much was cut. */
export function cutText(text: string, maxChars: number): string {
  const clean = cleanText(text);
  if (clean.length <= maxChars) return clean;
  const note = `… [${clean.length - maxChars} more characters omitted]`;
  return `${clean.slice(0, maxChars).toWellFormed()}${note}`;
}

// Cc without \t and \n, bidirectional and zero-width characters, word joiners, and the tag characters.
const INVISIBLE =
  /[^\P{Cc}\t\n]|[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]/gu;
