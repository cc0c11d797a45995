import { FilesystemError } from "../../base/filesystem-error.ts";
import { show } from "../../base/show.ts";

/** How `path` is read as text in an encoding that `TextDecoder` knows; a byte order mark is text. */
export function textDecoder(path: string, encoding = "utf-8"): (bytes: Uint8Array) => string {
  const name = encodingName(path, encoding);
  if (name === "latin1") return latin1Text;
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch (cause) {
      const problem = `is not valid ${name}: read it with readBytes`;
      throw FilesystemError.invalid(path, problem, cause);
    }
  };
}

/** The bytes of a text in utf-8, utf-16le or latin1; what the encoding cannot say is refused. */
export function encodeText(path: string, text: string, encoding = "utf-8"): Uint8Array {
  const name = encodingName(path, encoding);
  if (typeof text !== "string")
    throw FilesystemError.invalid(path, `can only hold text, not ${show(text)}`);
  if (name === "latin1") return latin1Bytes(path, text);
  if (name !== "utf-8" && name !== "utf-16le") {
    throw FilesystemError.invalid(
      path,
      `cannot be written in ${name}: use utf-8, utf-16le or latin1`,
    );
  }
  if (/\p{Surrogate}/u.test(text)) {
    throw FilesystemError.invalid(
      path,
      "cannot hold half a character: the text has a lone surrogate",
    );
  }
  return name === "utf-8" ? new TextEncoder().encode(text) : utf16Bytes(text);
}

/** One name for each encoding. Latin-1 is every byte's own character, which is not windows-1252. */
function encodingName(path: string, encoding: string): string {
  const label = String(encoding).trim().toLowerCase();
  if (label === "latin1" || label === "iso-8859-1") return "latin1";
  try {
    return new TextDecoder(label).encoding;
  } catch (cause) {
    const problem = `has no encoding ${show(encoding)}: use utf-8, utf-16le or latin1`;
    throw FilesystemError.invalid(path, problem, cause);
  }
}

function latin1Text(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; from += 8192) {
    parts.push(String.fromCharCode(...bytes.subarray(from, from + 8192)));
  }
  return parts.join("");
}

function latin1Bytes(path: string, text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0xff)
      throw FilesystemError.invalid(path, `cannot hold ${show(text[index])} in latin1: use utf-8`);
    bytes[index] = code;
  }
  return bytes;
}

function utf16Bytes(text: string): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let index = 0; index < text.length; index++) {
    view.setUint16(index * 2, text.charCodeAt(index), true);
  }
  return new Uint8Array(view.buffer);
}
