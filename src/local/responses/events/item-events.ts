import type { WireItem } from "../../../openai/wire.ts";

/** An event of an item, without what all of them have. */
export type ItemEvent = WireItem & { readonly type: string };

/** What is told of one item between `output_item.added` and `output_item.done`. */
export interface ItemEvents {
  /** The item as it is when nothing of it is known yet. */
  readonly added: WireItem;
  /** Before its tool has run, and all of what the model itself wrote. */
  readonly running: Iterable<ItemEvent>;
  /** When its tool has run. */
  readonly finished: readonly ItemEvent[];
}
