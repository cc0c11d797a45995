import type { HistoryStep } from "../adapter/model-client.ts";
import { WinkError } from "../base/errors.ts";
import { deepFreeze, frozenCopy, isPlainObject } from "../base/freeze.ts";
import type { BusEvent } from "../session/event-bus.ts";
import type { Slice } from "../session/slice.ts";
import { unprinted } from "./sealed-content.ts";

/**
 * The session's last conversation with OpenAI, in the provider's own items: what `continue` goes on
 * from. A turn costs what it adds, however long the conversation is.
 */
export const historySlice: Slice<readonly object[]> = Object.freeze({
  id: "openai.history",
  policy: "log" as const,
  initial: Object.freeze([]),
  events: Object.freeze(["TurnCompleted"]),
  /** Each session's own: none is to hold on to the items of another. */
  get first() {
    return new KeptItems([]);
  },
  reduce(kept: unknown, event: BusEvent) {
    if (event.type !== "TurnCompleted" || event.adapter !== "openai" || !event.history) return kept;
    return (kept as KeptItems).after(event.history);
  },
  read: (kept: unknown) => (kept as KeptItems).read(),
  load: (state: unknown) =>
    Array.isArray(state) && state.every(isPlainObject)
      ? { kept: new KeptItems(frozenCopy(state).map(unprinted)) }
      : "it is not a list of items",
});

/**
 * A list that each turn cuts and adds to. Each step is a new one on the same items, which shows as
 * many of them as there were then; the list itself is made when somebody reads it.
 */
class KeptItems {
  readonly #items: object[];
  readonly #length: number;
  #list: readonly object[] | null = null;

  constructor(items: object[]) {
    this.#items = items;
    this.#length = items.length;
  }

  after({ kept, added }: HistoryStep): KeptItems {
    if (!Number.isSafeInteger(kept) || kept < 0 || kept > this.#length) {
      const remedy = "register the slice before a conversation begins";
      throw new WinkError(`The turn keeps ${kept} of ${this.#length} items: ${remedy}`);
    }
    const isNewest = this.#items.length === kept && this.#length === kept;
    const items = isNewest ? this.#items : this.#items.slice(0, kept);
    for (const item of deepFreeze(added)) items.push(unprinted(item));
    return new KeptItems(items);
  }

  read(): readonly object[] {
    this.#list ??= Object.freeze(this.#items.slice(0, this.#length));
    return this.#list;
  }
}
