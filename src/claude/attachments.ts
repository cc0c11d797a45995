import { InvalidOptionError } from "../base/errors.ts";
import {
  type AttachmentLimit,
  checkAttachedSize,
  getFileName,
  getFileType,
  getImageType,
  readAttachment,
  toBase64,
} from "../files/read-attachment.ts";
import type { Attachment } from "../prompt/attachment.ts";

/** Stays below Anthropic's limit for one request, so that the prompt fits too. */
const LIMIT: AttachmentLimit = {
  maxBytes: 20_000_000,
  remedy: "mount a larger file in a ClaudeAgentWorkspaceSection, where the model can read it",
};

/**
 * Throws if an attachment refers to another provider's file. Call it before the SDK starts. `field` is
 * where the caller passed the attachment.
 */
export function checkAttachment(attachment: Attachment, field: string): void {
  if ("fileId" in attachment) throw refuseFileId(attachment.fileId, field);
}

/** Converts an attached file or image to a content block of Anthropic's API. */
export async function toAttachmentBlock(attachment: Attachment, field: string): Promise<object> {
  if ("fileId" in attachment) throw refuseFileId(attachment.fileId, field);
  if ("imageUrl" in attachment) return toImageBlock(attachment.imageUrl);
  if ("bytes" in attachment) return toInlineBlock(attachment.bytes, attachment.filename, field);
  const { path } = attachment;
  return toInlineBlock(await readAttachment(path, LIMIT), getFileName(path), field);
}

function refuseFileId(value: string, field: string): InvalidOptionError {
  return new InvalidOptionError({
    field: `${field}.fileId`,
    value,
    rule: "must be omitted on Claude, which cannot read files by id",
    remedy: "attach the file by path or bytes",
  });
}

function toImageBlock(url: string): object {
  const inline = /^data:(image\/[a-z+.-]+);base64,(.*)$/s.exec(url);
  const source = inline
    ? { type: "base64", media_type: inline[1], data: inline[2] }
    : { type: "url", url };
  return { type: "image", source };
}

function toInlineBlock(bytes: Uint8Array, filename: string, field: string): object {
  checkAttachedSize(bytes.byteLength, filename, LIMIT);
  const image = getImageType(filename);
  if (image) {
    const source = { type: "base64", media_type: image, data: toBase64(bytes) };
    return { type: "image", source };
  }
  const isPdf = getFileType(filename) === "application/pdf";
  const source = isPdf
    ? { type: "base64", media_type: "application/pdf", data: toBase64(bytes) }
    : { type: "text", media_type: "text/plain", data: decodeText(bytes, filename, field) };
  return { type: "document", title: filename, source };
}

function decodeText(bytes: Uint8Array, filename: string, field: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new InvalidOptionError({
      field,
      value: filename,
      rule: "must be an image, a PDF or UTF-8 text on Claude",
      remedy:
        "mount the file in a ClaudeAgentWorkspaceSection, where the model's tools can read it",
      cause,
    });
  }
}
