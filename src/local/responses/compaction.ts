import { deflateRawSync, inflateRawSync } from "node:zlib";
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
  return [...said, compactionItem(items, { sealer, ids })];
}

/** One item that stands for the whole conversation. */
export function compactionItem(
  items: readonly WireItem[],
  { sealer, ids }: { readonly sealer: Sealer; readonly ids: Ids },
): WireItem {
  const rest = JSON.stringify(items.filter((item) => !isUserMessage(item)));
  const sealed = sealer.seal({ packed: deflateRawSync(rest).toString("base64") });
  return { id: ids.next("cmp_"), type: "compaction", encrypted_content: sealed };
}

/** A conversation with what is sealed in it made readable, for the model. */
export function unsealed(items: readonly WireItem[], sealer: Sealer): readonly WireItem[] {
  return items.flatMap((item, place) => {
    if (item["type"] !== "compaction") return [item];
    const opened = sealer.open(String(item["encrypted_content"] ?? ""));
    if (!opened) throw tampered(place);
    return unsealed(unpacked(opened), sealer);
  });
}

function unpacked({ packed }: WireItem): readonly WireItem[] {
  const bytes = Buffer.from(String(packed), "base64");
  return JSON.parse(inflateRawSync(bytes, { maxOutputLength: MOST_BYTES }).toString("utf8"));
}

const MOST_BYTES = 256 * 1024 * 1024;

function tampered(place: number): ApiProblem {
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
