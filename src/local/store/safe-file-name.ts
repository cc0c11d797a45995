import { Buffer } from "node:buffer";

/**
 * Returns the last path segment of a client's file name, safe to show and to use on disk: without separators or
 * control characters, and at most `maxBytes` long. Truncation keeps the extension.
 */
export function safeFileName(name: string | undefined, maxBytes = 255): string {
  const last = (name ?? "").replace(/^.*[/\\]/s, "");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced.
  const plain = last.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f]/g, "_");
  if (plain === "" || plain === "." || plain === "..") return "file";
  return shortenName(plain, maxBytes);
}

/** Longer suffixes are not treated as extensions. */
const MAX_EXTENSION_LENGTH = 20;

function shortenName(name: string, maxBytes: number): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const dot = name.lastIndexOf(".");
  const hasExtension = dot > 0 && name.length - dot <= MAX_EXTENSION_LENGTH;
  const extension = hasExtension ? name.slice(dot) : "";
  const availableBytes = maxBytes - Buffer.byteLength(extension);
  return takeBytes(hasExtension ? name.slice(0, dot) : name, availableBytes) + extension;
}

function takeBytes(text: string, bytes: number): string {
  let taken = "";
  let size = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    taken += character;
  }
  return taken;
}
