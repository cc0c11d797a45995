import { InvalidOptionError, messageOf } from "../base/errors.ts";
import type { Attachment } from "../prompt/attachment.ts";
import type { WireContent, WireMessage } from "./wire.ts";

/** What the API takes in one file. */
const MOST_BYTES = 50_000_000;

/** The message that carries a prompt's files and images; `null` if it has none. */
export async function attachmentMessage(
  attachments: readonly Attachment[],
): Promise<WireMessage | null> {
  if (attachments.length === 0) return null;
  const content: WireContent[] = [];
  for (const attachment of attachments) content.push(await contentOf(attachment));
  return { type: "message", role: "user", content };
}

async function contentOf(attachment: Attachment): Promise<WireContent> {
  if ("fileId" in attachment) return { type: "input_file", file_id: attachment.fileId };
  if ("imageUrl" in attachment) {
    return { type: "input_image", detail: "auto", image_url: attachment.imageUrl };
  }
  if ("bytes" in attachment) return inlined(attachment.bytes, attachment.filename);
  return inlined(await bytesOf(attachment.path), nameOf(attachment.path));
}

async function bytesOf(path: string): Promise<Uint8Array> {
  const { readFile, stat } = await import("node:fs/promises");
  try {
    const { size } = await stat(path);
    checkSize(size, path);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof InvalidOptionError) throw cause;
    throw new InvalidOptionError({
      field: "attach(files).path",
      value: path,
      rule: `must be a file that can be read (${messageOf(cause)})`,
      remedy: "give the path of a file, from where the process runs",
      cause,
    });
  }
}

/** Within the request: nothing is left at the provider as an upload would be. */
function inlined(bytes: Uint8Array, filename: string): WireContent {
  checkSize(bytes.byteLength, filename);
  const extension = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? "";
  const image = imageTypes.get(extension);
  const type = image ?? fileTypes.get(extension) ?? "application/octet-stream";
  const url = `data:${type};base64,${base64(bytes)}`;
  return image
    ? { type: "input_image", detail: "auto", image_url: url }
    : { type: "input_file", filename, file_data: url };
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

function checkSize(size: number, value: string): void {
  if (size > 0 && size <= MOST_BYTES) return;
  throw new InvalidOptionError({
    field: "attach(files)",
    value,
    rule: `must have from 1 to ${MOST_BYTES} bytes, and has ${size}`,
    remedy: "upload a larger one with uploadFile and attach its fileId",
  });
}

function nameOf(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
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
