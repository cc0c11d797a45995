/** Escapes control characters, which a terminal would interpret. */
export function escapeControls(text: string): string {
  return text.replace(/\p{C}/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}
