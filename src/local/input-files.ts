import { createHash } from "node:crypto";
import { isPlainObject } from "../base/freeze.ts";
import { readStringOrNull } from "../base/json.ts";
import type { WireItem } from "../openai/wire.ts";

/** A file in a request's input, to be copied into the containers in which code runs. */
export interface InputFile {
  /** Identifies the file. Equal files have equal keys. */
  readonly key: string;
  /** Precedes the name in a container that already has a file with that name. */
  readonly prefix: string;
  /** The file's name as the client sent it. Absent for uploaded files, which have their own. */
  readonly filename?: string | undefined;
  /** The id of an uploaded file, or a function that decodes the file's bytes. */
  readonly content: string | (() => Uint8Array);
}

/** Whether an item of a conversation contains files or images. */
export function hasInputFiles(item: WireItem): boolean {
  return listParts(item).some(({ type }) => type === "input_file" || type === "input_image");
}

/** Lists the files and images in a conversation. Those behind URLs are omitted: the provider has no network. */
export function listInputFiles(items: readonly WireItem[]): readonly InputFile[] {
  return items.flatMap((item) => {
    const known = filesByItem.get(item);
    if (known) return known;
    const files = listParts(item).flatMap((part) => readInputFile(part) ?? []);
    filesByItem.set(item, files);
    return files;
  });
}

/** Conversations share their items between turns, so each file is hashed once. */
const filesByItem = new WeakMap<WireItem, readonly InputFile[]>();

/** Lists the parts of a message's content or of a tool's output. */
function listParts({ content, output }: WireItem): readonly WireItem[] {
  const parts: readonly unknown[] = [content, output].find(Array.isArray) ?? [];
  return parts.filter(isPlainObject);
}

function readInputFile(part: WireItem): InputFile | null {
  const { type } = part;
  if (type !== "input_file" && type !== "input_image") return null;
  const id = readStringOrNull(part, "file_id");
  if (id !== null) return { key: id, prefix: id, content: id };
  if (type === "input_file") {
    const data = readStringOrNull(part, "file_data");
    return data === null ? null : createInlineFile(readStringOrNull(part, "filename") ?? "", data);
  }
  const url = readStringOrNull(part, "image_url") ?? "";
  const format = /^data:image\/([a-z0-9]{1,10})/i.exec(url)?.[1]?.toLowerCase();
  if (format === undefined) return null;
  return createInlineFile(`image.${format === "jpeg" ? "jpg" : format}`, url);
}

function createInlineFile(filename: string, data: string): InputFile {
  const key = createHash("sha256").update(filename).update("\0").update(data).digest("hex");
  return { key, prefix: key.slice(0, 32), filename, content: () => decodeData(data) };
}

/** Decodes a data URL, or plain base64. */
function decodeData(data: string): Uint8Array {
  const comma = data.startsWith("data:") ? data.indexOf(",") : -1;
  const payload = data.slice(comma + 1);
  if (comma < 0 || /;base64$/i.test(data.slice(0, comma))) return Buffer.from(payload, "base64");
  try {
    return Buffer.from(decodeURIComponent(payload));
  } catch {
    // Not percent-encoded, so the text is meant literally.
    return Buffer.from(payload);
  }
}
