import {
  type AttachmentLimit,
  checkAttachedSize,
  getFileName,
  getFileType,
  getImageType,
  readAttachment,
  toBase64,
} from "../../files/read-attachment.ts";
import type { Attachment } from "../../prompt/attachment.ts";
import { type InputPart, isTextPart } from "../../prompt/input.ts";
import type { WireContent, WireItem, WireMessage } from "../wire.ts";

/** The API's limit for one file. */
const LIMIT: AttachmentLimit = {
  maxBytes: 50_000_000,
  remedy: "upload a larger file with uploadFile and attach its fileId",
};

/** Creates the user messages of a first turn: a prompt's files and images, then the user's input. */
export async function createUserMessages(
  attachments: readonly Attachment[],
  input: readonly InputPart[],
): Promise<readonly WireItem[]> {
  const attached = await createAttachmentMessage(attachments);
  const message = await createInputMessage(input);
  return [attached, message].filter((one) => one !== null).map((one) => ({ ...one }));
}

/** Creates the message if there is at most one text and no file, at once; otherwise returns `null`. */
export function createTextMessage(
  attachments: readonly Attachment[],
  input: readonly InputPart[],
): readonly WireItem[] | null {
  if (attachments.length > 0 || input.length > 1) return null;
  const [only] = input;
  if (!only) return [];
  return isTextPart(only) ? [{ ...USER_MESSAGE, content: only.text }] : null;
}

/** Creates the message with a prompt's files and images; `null` if there are no attachments. */
async function createAttachmentMessage(
  attachments: readonly Attachment[],
): Promise<WireMessage | null> {
  if (attachments.length === 0) return null;
  const content: WireContent[] = [];
  for (const attachment of attachments) content.push(await toWireContent(attachment));
  return { ...USER_MESSAGE, content };
}

/**
 * Creates the message with the user's input; `null` if there is none. Text alone is sent as a string,
 * other input as parts in their order.
 */
async function createInputMessage(input: readonly InputPart[]): Promise<WireMessage | null> {
  const [first, ...others] = input;
  if (!first) return null;
  if (isTextPart(first) && others.length === 0) return { ...USER_MESSAGE, content: first.text };
  const content: WireContent[] = [];
  for (const part of input) {
    content.push(
      isTextPart(part) ? { type: "input_text", text: part.text } : await toWireContent(part),
    );
  }
  return { ...USER_MESSAGE, content };
}

const USER_MESSAGE = { type: "message", role: "user" } as const;

async function toWireContent(attachment: Attachment): Promise<WireContent> {
  if ("fileId" in attachment) return { type: "input_file", file_id: attachment.fileId };
  if ("imageUrl" in attachment) {
    return { type: "input_image", detail: "auto", image_url: attachment.imageUrl };
  }
  if ("bytes" in attachment) return inlineFile(attachment.bytes, attachment.filename);
  return inlineFile(await readAttachment(attachment.path, LIMIT), getFileName(attachment.path));
}

/** Inlines a file in the request. Unlike an upload, this stores no file at the provider. */
function inlineFile(bytes: Uint8Array, filename: string): WireContent {
  checkAttachedSize(bytes.byteLength, filename, LIMIT);
  const image = getImageType(filename);
  const url = `data:${image ?? getFileType(filename)};base64,${toBase64(bytes)}`;
  return image
    ? { type: "input_image", detail: "auto", image_url: url }
    : { type: "input_file", filename, file_data: url };
}
