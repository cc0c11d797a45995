/** Returns how many tokens a text counts as in the local provider: a quarter of its UTF-8 bytes, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** Returns how many tokens the JSON of a value counts as. */
export function countJsonTokens(value: unknown): number {
  return countTokens(JSON.stringify(value) ?? "");
}
