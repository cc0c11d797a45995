import type { WireItem } from "../../openai/wire.ts";

/** An item and its JSON, which is made once. */
export interface WrittenItem {
  readonly item: WireItem;
  readonly text: string;
}

export function written(item: WireItem): WrittenItem {
  return { item, text: JSON.stringify(item) };
}
