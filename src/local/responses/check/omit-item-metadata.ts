import type { WireItem } from "../../../openai/wire.ts";

/** A field that Codex adds to items it sends to OpenAI. The API accepts it and does not document it. */
const METADATA = "internal_chat_message_metadata_passthrough";

/** Returns an item without the metadata that Codex adds to it, or the item itself if it has none. */
export function omitItemMetadata(item: WireItem): WireItem {
  if (!(METADATA in item)) return item;
  const { [METADATA]: _omitted, ...rest } = item;
  return rest;
}
