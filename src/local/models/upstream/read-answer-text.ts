/** The most bytes of an upstream model's answer. Models answer with a thousandth of it. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Reads the text of an upstream server's answer. Returns `null`, and reads no further, if it is too long to be one. */
export async function readAnswerText(
  body: AsyncIterable<Uint8Array> | null,
): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) return null;
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}
