import { getErrorMessage, InvalidOptionError } from "../base/errors.ts";
import { loadFileSystem } from "../host/load-file-system.ts";

/** The maximum size of a file in a request. */
export interface AttachmentLimit {
  /** The maximum size in bytes. */
  readonly maxBytes: number;
  /** What to do with a larger file, as an imperative for the error message. */
  readonly remedy: string;
}

const refuse = InvalidOptionError.at("attach(files)");

/** Reads a file that a prompt attaches. Throws `InvalidOptionError` if it is empty, too large or not readable. */
export async function readAttachment(path: string, limit: AttachmentLimit): Promise<Uint8Array> {
  const { readFile, stat } = loadFileSystem(path).promises;
  try {
    const { size } = await stat(path);
    checkAttachedSize(size, path, limit);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof InvalidOptionError) throw cause;
    const rule = `must be a file that can be read (${getErrorMessage(cause)})`;
    const remedy = "pass the path of a file, absolute or relative to the working directory";
    throw refuse("path", path, rule, remedy, { cause });
  }
}

/** Throws `InvalidOptionError` if an attachment is empty or too large. */
export function checkAttachedSize(
  size: number,
  value: string,
  { maxBytes, remedy }: AttachmentLimit,
): void {
  if (size > 0 && size <= maxBytes) return;
  throw refuse("", value, `must have 1 to ${maxBytes} bytes (it has ${size})`, remedy);
}

/** Returns the last part of a path. */
export function getFileName(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}

/** Returns the media type of an image by its file name, or `null` if models do not accept it. */
export function getImageType(filename: string): string | null {
  return imageTypes.get(getAttachmentExtension(filename)) ?? null;
}

/** Returns the media type of a document by its file name. */
export function getFileType(filename: string): string {
  return fileTypes.get(getAttachmentExtension(filename)) ?? "application/octet-stream";
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

function getAttachmentExtension(filename: string): string {
  return /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? "";
}

const imageTypes: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
]);

const fileTypes: ReadonlyMap<string, string> = new Map([
  ["pdf", "application/pdf"],
  ["json", "application/json"],
  ["csv", "text/csv"],
  ["md", "text/markdown"],
  ["html", "text/html"],
  ["xml", "application/xml"],
  ["txt", "text/plain"],
]);
