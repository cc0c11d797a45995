/** Escapes control characters, which a terminal would interpret. */
export function escapeControls(text: string): string {
  return text.replace(/\p{C}/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

/** Escapes the control characters of a text with several lines, except line breaks and tabs. */
export function escapeControlsInLines(text: string): string {
  return text.replace(/[^\n\t]+/g, escapeControls);
}
