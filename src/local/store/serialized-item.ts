import type { WireItem } from "../../openai/wire.ts";

/** An item with its JSON text, so that it is serialized only once. */
export interface SerializedItem {
  readonly item: WireItem;
  readonly text: string;
}

/** Serializes an item. */
export function serializeItem(item: WireItem): SerializedItem {
  return { item, text: JSON.stringify(item) };
}
