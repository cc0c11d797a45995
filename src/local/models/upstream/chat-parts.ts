import { isPlainObject } from "../../../base/freeze.ts";

/** A part of a message: a text, or an image by its URL. */
export type ChatPart =
  | { readonly text: string }
  | { readonly image: string; readonly detail: string | null };

/** Converts a message's content or a call's output to parts. A file becomes its text, or a note about it. */
export function toChatParts(content: unknown): readonly ChatPart[] {
  if (typeof content === "string") return [{ text: content }];
  return Array.isArray(content) ? content.filter(isPlainObject).flatMap(convertPart) : [];
}

/** Returns the texts of the parts, one per line. */
export function joinPartTexts(parts: readonly ChatPart[]): string {
  return parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

type Part = Readonly<Record<string, unknown>>;

function convertPart(part: Part): readonly ChatPart[] {
  const { type, text, refusal } = part;
  if (type === "input_image") return [toImagePart(part)];
  if (type === "input_file") return [{ text: toFileText(part) }];
  const words = type === "refusal" ? refusal : text;
  return typeof words === "string" ? [{ text: words }] : [];
}

function toImagePart({ image_url: url, detail, file_id: id }: Part): ChatPart {
  if (typeof url !== "string") return { text: `[The image ${String(id)} cannot be shown here.]` };
  return { image: url, detail: typeof detail === "string" ? detail : null };
}

function toFileText(part: Part): string {
  const { filename, file_data: encoded, file_id: id, file_url: url } = part;
  const name = [filename, id, url].find((one) => typeof one === "string") ?? "(unnamed)";
  const text = typeof encoded === "string" ? decodeText(encoded) : null;
  if (text === null) return `[The file ${name} is attached, but its content cannot be shown here.]`;
  return `[The file ${name}:]\n${text}`;
}

/** Decodes base64, with or without `data:…;base64,`. Returns `null` if it is not text. */
function decodeText(encoded: string): string | null {
  const base64 = encoded.replace(/^data:[^,]*,/, "");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
    return text.includes("\0") ? null : text;
  } catch {
    return null; // an image, a PDF or another binary file
  }
}
