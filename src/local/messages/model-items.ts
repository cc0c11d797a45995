import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { CheckedMessage } from "./check/checked-message.ts";
import { readResultParts } from "./check/content.ts";
import { toHostedItems } from "./hosted/hosted-items.ts";
import { removeReminderBlocks } from "./reminders.ts";
import { removeBridgePrefix } from "./tool-names.ts";

/** Converts messages to OpenAI's items, so that models read the same conversation on both APIs. */
export function toModelItems(messages: readonly Pick<CheckedMessage, "role" | "content">[]) {
  return messages.flatMap(({ role, content }) => toRoleItems(role, removeReminderBlocks(content)));
}

/** Consecutive texts and images become one message. Every other block becomes its own item. */
function toRoleItems(role: string, blocks: readonly WireItem[]): readonly WireItem[] {
  const items: WireItem[] = [];
  let parts: WireItem[] = [];
  const flush = () => {
    if (parts.length > 0) items.push({ type: "message", role, content: parts });
    parts = [];
  };
  for (const block of blocks) {
    const part = toPart(role, block);
    if (part) {
      parts.push(part);
      continue;
    }
    const own = toItems(block, blocks);
    if (own.length === 0) continue;
    flush();
    items.push(...own);
  }
  flush();
  return items;
}

function toPart(role: string, block: WireItem): WireItem | null {
  const { type, text } = block;
  if (type === "text" && role === "assistant")
    return { type: "output_text", text, annotations: [] };
  if (type === "text") return { type: "input_text", text };
  if (type === "compaction")
    return {
      type: "output_text",
      text: `Summary of the conversation so far:\n${block["content"]}`,
      annotations: [],
    };
  if (type === "search_result") return { type: "input_text", text: describeSearchResult(block) };
  const source = readRecord(block, "source");
  const { file_id: fileId } = source;
  if (type === "image" && fileId !== undefined)
    return { type: "input_image", file_id: fileId, detail: "auto" };
  if (type === "document" && fileId !== undefined) return { type: "input_file", file_id: fileId };
  if (type === "image") return { type: "input_image", image_url: toUrl(source), detail: "auto" };
  if (type !== "document") return null;
  const filename = readString(block, "title") || "document";
  if (source["type"] === "text") return { type: "input_text", text: readString(source, "data") };
  if (source["type"] === "content") return { type: "input_text", text: joinTexts(source) };
  return { type: "input_file", filename, file_data: toUrl(source) };
}

function describeSearchResult(block: WireItem): string {
  const parts = [readString(block, "title"), readString(block, "source"), joinTexts(block)];
  return parts.filter((part) => part !== "").join("\n");
}

/** Returns the texts of a document or of a search result that consists of blocks. */
function joinTexts(source: WireItem): string {
  return readResultParts(source)
    .map((part) => readString(part, "text"))
    .join("\n");
}

function toUrl({ url, media_type: type, data }: WireItem): string {
  return String(url ?? `data:${type};base64,${data}`);
}

function toItems(block: WireItem, blocks: readonly WireItem[]): readonly WireItem[] {
  const { type, id, name, input } = block;
  if (type === "tool_use") {
    const record = isPlainObject(input) ? input : {};
    const call = {
      call_id: id,
      name: removeBridgePrefix(String(name)),
      arguments: JSON.stringify(record),
    };
    return [{ type: "function_call", ...call, status: "completed" }];
  }
  if (type === "tool_result")
    return [
      {
        type: "function_call_output",
        call_id: block["tool_use_id"],
        output: toOutput(block),
        status: "completed",
      },
    ];
  if (type === "thinking") {
    const summary = [{ type: "summary_text", text: block["thinking"] }];
    return [{ type: "reasoning", summary }];
  }
  return type === "server_tool_use" ? toHostedItems(block, blocks) : [];
}

/** Returns one string if all parts are texts. */
function toOutput(result: WireItem): unknown {
  const parts = removeReminderBlocks(readResultParts(result));
  if (parts.every(({ type }) => type === "text"))
    return parts.map((part) => readString(part, "text")).join("\n");
  return parts.flatMap((part) => toPart("user", part) ?? []);
}
