import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import type { Sealer } from "./sealed.ts";

/** The next window: what users said, word for word, and all else in one item that only we can read. */
export function compacted(
  items: readonly WireItem[],
  { sealer, ids }: { readonly sealer: Sealer; readonly ids: Ids },
): readonly WireItem[] {
  const said = items.filter(isUserMessage).map(asInputMessage);
  const rest = items.filter((item) => !isUserMessage(item));
  return [...said, compactionItem(rest, { sealer, ids })];
}

/** One item that stands for all of these: clients may leave out what comes before it. */
export function compactionItem(
  items: readonly WireItem[],
  { sealer, ids }: { readonly sealer: Sealer; readonly ids: Ids },
): WireItem {
  const packed = deflateRawSync(JSON.stringify(items)).toString("base64");
  const sealed = sealer.seal({ packed });
  return { id: ids.next("cmp_"), type: "compaction", encrypted_content: sealed };
}

/**
 * A conversation with what is sealed in it made readable, for the model. What a client sends beside
 * the item that stands for it is read once.
 */
export function unsealed(items: readonly WireItem[], sealer: Sealer): readonly WireItem[] {
  let readable: WireItem[] = [];
  for (const [place, item] of items.entries()) {
    if (item["type"] !== "compaction") {
      readable.push(item);
      continue;
    }
    const opened = sealer.open(String(item["encrypted_content"] ?? ""));
    if (!opened) throw tampered(place);
    const within = unsealed(unpacked(opened), sealer);
    const known = new Set(within.map(sameness));
    readable = [...readable.filter((one) => !known.has(sameness(one))), ...within];
  }
  return readable;
}

/** What is the same for an item and its copy: messages lose their ids and the form of their text. */
function sameness(item: WireItem): string {
  const { type, id, role, content } = item;
  if (type !== "message") return typeof id === "string" ? id : JSON.stringify(item);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) => (isPlainObject(part) ? (part["text"] ?? part) : part));
  return JSON.stringify([role, texts]);
}

function unpacked({ packed }: WireItem): readonly WireItem[] {
  const bytes = Buffer.from(String(packed), "base64");
  return JSON.parse(inflateRawSync(bytes, { maxOutputLength: MOST_BYTES }).toString("utf8"));
}

const MOST_BYTES = 256 * 1024 * 1024;

/** What was sealed here and is no longer what it was. */
export function tampered(place: number): ApiProblem {
  const param = `input[${place}].encrypted_content`;
  const message = "The encrypted content could not be verified.";
  return new ApiProblem(400, message, { param, code: "invalid_encrypted_content" });
}

function isUserMessage({ type, role }: WireItem): boolean {
  return (type === "message" || type === undefined) && role === "user";
}

function asInputMessage({ content }: WireItem): WireItem {
  const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : content;
  return { type: "message", role: "user", content: parts };
}
