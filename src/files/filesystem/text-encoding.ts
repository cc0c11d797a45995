import { FilesystemError } from "../../base/filesystem-error.ts";
import { quoteValue } from "../../base/quote-value.ts";

/** Creates a decoder for any encoding that `TextDecoder` supports. Preserves a byte order mark. */
export function textDecoder(path: string, encoding = "utf-8"): (bytes: Uint8Array) => string {
  const name = toEncodingName(path, encoding);
  if (name === "latin1") return decodeLatin1;
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch (cause) {
      const problem = `is not valid ${name}. Read it with readBytes.`;
      throw FilesystemError.invalid(path, problem, cause);
    }
  };
}

/** Encodes a text as utf-8, utf-16le or latin1. Throws `FilesystemError` if the encoding cannot represent it. */
export function encodeText(path: string, text: string, encoding = "utf-8"): Uint8Array {
  const name = toEncodingName(path, encoding);
  if (typeof text !== "string")
    throw FilesystemError.invalid(
      path,
      `can only be written as a string, got ${quoteValue(text)}. Use write for bytes.`,
    );
  if (name === "latin1") return encodeLatin1(path, text);
  if (name !== "utf-8" && name !== "utf-16le") {
    throw FilesystemError.invalid(
      path,
      `cannot be written in ${name}. Use utf-8, utf-16le or latin1.`,
    );
  }
  if (/\p{Surrogate}/u.test(text)) {
    throw FilesystemError.invalid(
      path,
      "cannot be written because the text has a lone surrogate. Split text between characters.",
    );
  }
  return name === "utf-8" ? new TextEncoder().encode(text) : encodeUtf16(text);
}

/** Returns the canonical encoding name. Latin-1 maps each byte to the code point of the same number, unlike windows-1252. */
function toEncodingName(path: string, encoding: string): string {
  const label = String(encoding).trim().toLowerCase();
  if (label === "latin1" || label === "iso-8859-1") return "latin1";
  try {
    return new TextDecoder(label).encoding;
  } catch (cause) {
    const problem = `cannot use the unknown encoding ${quoteValue(encoding)}. Use utf-8, utf-16le or latin1.`;
    throw FilesystemError.invalid(path, problem, cause);
  }
}

function decodeLatin1(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; from += 8192) {
    parts.push(String.fromCharCode(...bytes.subarray(from, from + 8192)));
  }
  return parts.join("");
}

function encodeLatin1(path: string, text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0xff)
      throw FilesystemError.invalid(
        path,
        `cannot contain ${quoteValue(text[index])} in latin1. Use utf-8.`,
      );
    bytes[index] = code;
  }
  return bytes;
}

function encodeUtf16(text: string): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let index = 0; index < text.length; index++) {
    view.setUint16(index * 2, text.charCodeAt(index), true);
  }
  return new Uint8Array(view.buffer);
}
