import { Buffer } from "node:buffer";

/**
 * The last part of whatever a client calls its file, fit to be shown and to be a name on a disk:
 * no separators, no control characters, at most so many bytes, its ending kept.
 */
export function safeFileName(name: string | undefined, maxBytes = 255): string {
  const last = (name ?? "").replace(/^.*[/\\]/s, "");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  const plain = last.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f]/g, "_");
  if (plain === "" || plain === "." || plain === "..") return "file";
  return shortened(plain, maxBytes);
}

/** Longer endings are no endings. */
const LONGEST_ENDING = 20;

function shortened(name: string, maxBytes: number): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const dot = name.lastIndexOf(".");
  const isEnding = dot > 0 && name.length - dot <= LONGEST_ENDING;
  const ending = isEnding ? name.slice(dot) : "";
  const room = maxBytes - Buffer.byteLength(ending);
  return firstBytes(isEnding ? name.slice(0, dot) : name, room) + ending;
}

function firstBytes(text: string, bytes: number): string {
  let taken = "";
  let size = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    taken += character;
  }
  return taken;
}
