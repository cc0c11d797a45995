import { isPlainObject } from "../../../base/freeze.ts";

/** A piece of what was said: words, or a picture by its address. */
export type SpokenPart =
  | { readonly text: string }
  | { readonly image: string; readonly detail: string | null };

/** What a message's content, or a call's output, says; files as their text, or a note of them. */
export function spokenParts(content: unknown): readonly SpokenPart[] {
  if (typeof content === "string") return [{ text: content }];
  return Array.isArray(content) ? content.filter(isPlainObject).flatMap(spokenPart) : [];
}

/** The words among the parts, one below the other. */
export function wordsOf(parts: readonly SpokenPart[]): string {
  return parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

type Part = Readonly<Record<string, unknown>>;

function spokenPart(part: Part): readonly SpokenPart[] {
  const { type, text, refusal } = part;
  if (type === "input_image") return [picture(part)];
  if (type === "input_file") return [{ text: fileText(part) }];
  const words = type === "refusal" ? refusal : text;
  return typeof words === "string" ? [{ text: words }] : [];
}

function picture({ image_url: url, detail, file_id: id }: Part): SpokenPart {
  if (typeof url !== "string") return { text: `[The picture ${String(id)} cannot be shown here.]` };
  return { image: url, detail: typeof detail === "string" ? detail : null };
}

function fileText(part: Part): string {
  const { filename, file_data: encoded, file_id: id, file_url: url } = part;
  const name = [filename, id, url].find((one) => typeof one === "string") ?? "without a name";
  const text = typeof encoded === "string" ? textIn(encoded) : null;
  if (text === null) return `[The file ${name} was given; its content cannot be shown here.]`;
  return `[The file ${name}:]\n${text}`;
}

/** What is encoded, with or without `data:…;base64,`; `null` if it is no text. */
function textIn(encoded: string): string | null {
  const base64 = encoded.replace(/^data:[^,]*,/, "");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
    return text.includes("\0") ? null : text;
  } catch {
    return null; // a picture, a PDF: not for reading
  }
}
