/**
 * Starts a text with a capital, unless it starts with a name such as `maxBytes`, and ends it with a period.
 * Used to append a remedy to an error message.
 */
export function toSentence(text: string): string {
  const capital = /^[a-z]+(?![\w(.[])/.test(text) ? text.charAt(0).toUpperCase() : text.charAt(0);
  return `${capital}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
