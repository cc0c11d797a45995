/** Makes ids: `ids.next("resp_")`. */
export interface Ids {
  next(prefix: string): string;
}

/** Random ones, as long as OpenAI's. */
export const randomIds: Ids = Object.freeze({
  next: (prefix: string) => prefix + hex(24),
});

/** That many random bytes, in hexadecimal digits. */
export function hex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
