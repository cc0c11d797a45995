import {
  type AttachmentLimit,
  attachedBytes,
  base64Of,
  checkAttachedSize,
  fileNameOf,
  fileTypeOf,
  imageTypeOf,
} from "../../files/attached-bytes.ts";
import type { Attachment } from "../../prompt/attachment.ts";
import type { WireContent, WireMessage } from "../wire.ts";

/** What the API takes in one file. */
const LIMIT: AttachmentLimit = {
  mostBytes: 50_000_000,
  remedy: "upload a larger one with uploadFile and attach its fileId",
};

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
  return inlined(await attachedBytes(attachment.path, LIMIT), fileNameOf(attachment.path));
}

/** Within the request: nothing is left at the provider as an upload would be. */
function inlined(bytes: Uint8Array, filename: string): WireContent {
  checkAttachedSize(bytes.byteLength, filename, LIMIT);
  const image = imageTypeOf(filename);
  const url = `data:${image ?? fileTypeOf(filename)};base64,${base64Of(bytes)}`;
  return image
    ? { type: "input_image", detail: "auto", image_url: url }
    : { type: "input_file", filename, file_data: url };
}
