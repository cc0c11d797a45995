import { InvalidOptionError, messageOf } from "../base/errors.ts";

/** Most that may be sent within a request, and what to do with more. */
export interface AttachmentLimit {
  readonly mostBytes: number;
  readonly remedy: string;
}

const refuse = InvalidOptionError.at("attach(files)");

/** The bytes of a file that a prompt attaches. */
export async function attachedBytes(path: string, limit: AttachmentLimit): Promise<Uint8Array> {
  const { readFile, stat } = await import("node:fs/promises");
  try {
    const { size } = await stat(path);
    checkAttachedSize(size, path, limit);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof InvalidOptionError) throw cause;
    const rule = `must be a file that can be read (${messageOf(cause)})`;
    const remedy = "give the path of a file, from where the process runs";
    throw refuse("path", path, rule, remedy, { cause });
  }
}

/** Refuses what is empty or too large to be sent. */
export function checkAttachedSize(
  size: number,
  value: string,
  { mostBytes, remedy }: AttachmentLimit,
): void {
  if (size > 0 && size <= mostBytes) return;
  throw refuse("", value, `must have from 1 to ${mostBytes} bytes, and has ${size}`, remedy);
}

/** The last part of a path. */
export function fileNameOf(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}

/** The type of an image, by its name; `null` if it is none that models take. */
export function imageTypeOf(filename: string): string | null {
  return imageTypes.get(extensionOf(filename)) ?? null;
}

/** The type of a document, by its name. */
export function fileTypeOf(filename: string): string {
  return fileTypes.get(extensionOf(filename)) ?? "application/octet-stream";
}

/** The bytes as base64. */
export function base64Of(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

function extensionOf(filename: string): string {
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
