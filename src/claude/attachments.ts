import { InvalidOptionError } from "../base/errors.ts";
import {
  type AttachmentLimit,
  attachedBytes,
  base64Of,
  checkAttachedSize,
  fileNameOf,
  fileTypeOf,
  imageTypeOf,
} from "../files/attached-bytes.ts";
import type { Attachment } from "../prompt/attachment.ts";

/** Anthropic's limit for one request, with room for the rest of it. */
const LIMIT: AttachmentLimit = {
  mostBytes: 20_000_000,
  remedy: "mount a larger one in a ClaudeAgentWorkspaceSection, where the model can read it",
};

/** Throws for a file of another provider, before anything is started. */
export function checkAttachment(attachment: Attachment): void {
  if ("fileId" in attachment) throw refuseFile(attachment.fileId);
}

/** Converts a file or image of a prompt to a block of a message. */
export async function toAttachedBlock(attachment: Attachment): Promise<object> {
  if ("fileId" in attachment) throw refuseFile(attachment.fileId);
  if ("imageUrl" in attachment) return toImageBlock(attachment.imageUrl);
  if ("bytes" in attachment) return toInlineBlock(attachment.bytes, attachment.filename);
  return toInlineBlock(await attachedBytes(attachment.path, LIMIT), fileNameOf(attachment.path));
}

function refuseFile(value: string): InvalidOptionError {
  return new InvalidOptionError({
    field: "attach(files).fileId",
    value,
    rule: "must be left out on Claude, which has no such files",
    remedy: "attach it by path or bytes",
  });
}

function toImageBlock(url: string): object {
  const inline = /^data:(image\/[a-z+.-]+);base64,(.*)$/s.exec(url);
  const source = inline
    ? { type: "base64", media_type: inline[1], data: inline[2] }
    : { type: "url", url };
  return { type: "image", source };
}

function toInlineBlock(bytes: Uint8Array, filename: string): object {
  checkAttachedSize(bytes.byteLength, filename, LIMIT);
  const image = imageTypeOf(filename);
  if (image) {
    const source = { type: "base64", media_type: image, data: base64Of(bytes) };
    return { type: "image", source };
  }
  const isPdf = fileTypeOf(filename) === "application/pdf";
  const source = isPdf
    ? { type: "base64", media_type: "application/pdf", data: base64Of(bytes) }
    : { type: "text", media_type: "text/plain", data: decodeText(bytes, filename) };
  return { type: "document", title: filename, source };
}

function decodeText(bytes: Uint8Array, filename: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new InvalidOptionError({
      field: "attach(files)",
      value: filename,
      rule: "must be an image, a PDF or a text in UTF-8 on Claude",
      remedy: "mount it in a ClaudeAgentWorkspaceSection, where the model's tools can read it",
      cause,
    });
  }
}
