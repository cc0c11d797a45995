/** The names of a file before and after a change, as Git prints them. `/dev/null` stands for no file. */
export interface DiffNames {
  readonly before: string;
  readonly after: string;
}

/** Returns the names of a file in a diff. */
export function toDiffNames(path: string, status: "added" | "changed" | "deleted"): DiffNames {
  return {
    before: status === "added" ? "/dev/null" : quotePath(`a/${path}`),
    after: status === "deleted" ? "/dev/null" : quotePath(`b/${path}`),
  };
}

/**
 * Quotes a path as Git does: bytes that are not printable ASCII, quotation marks and backslashes are escaped, and
 * such a path is put in quotation marks. Spaces are not quoted.
 */
export function quotePath(path: string): string {
  if (!NEEDS_QUOTES.test(path)) return path;
  return `"${[...Buffer.from(path)].map(escapeByte).join("")}"`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const NEEDS_QUOTES = /[\u0000-\u001f"\\\u007f-\uffff]/;

const ESCAPES = new Map<number, string>([
  [0x07, "\\a"],
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0b, "\\v"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
]);

function escapeByte(byte: number): string {
  const isPlain = byte >= 0x20 && byte < 0x7f;
  const octal = `\\${byte.toString(8).padStart(3, "0")}`;
  return ESCAPES.get(byte) ?? (isPlain ? String.fromCharCode(byte) : octal);
}
