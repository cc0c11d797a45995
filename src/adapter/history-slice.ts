import { WinkError } from "../base/errors.ts";
import { deepFreeze, frozenCopy, isPlainObject } from "../base/freeze.ts";
import type { BusEvent } from "../session/event-map.ts";
import type { Slice } from "../session/slice.ts";
import type { HistoryStep } from "./model-client.ts";

/** Whose conversations a slice keeps. */
export interface HistoryOf {
  /** The slice's. */
  readonly id: string;
  readonly adapterName: string;
  /** What an item is kept as. @default as it is */
  readonly keep?: ((item: object) => object) | undefined;
}

/**
 * The session's last conversation on one adapter, in the provider's own items: what `continue` goes
 * on from. A turn costs what it adds, however long the conversation is.
 */
export function historySliceOf({
  id,
  adapterName,
  keep = (item) => item,
}: HistoryOf): Slice<readonly object[]> {
  return Object.freeze({
    id,
    policy: "log" as const,
    initial: Object.freeze([]),
    events: Object.freeze(["TurnCompleted"]),
    /** Each session's own: none is to hold on to the items of another. */
    get first() {
      return new KeptItems([], keep);
    },
    reduce(kept: unknown, event: BusEvent) {
      if (event.type !== "TurnCompleted" || event.adapter !== adapterName || !event.history)
        return kept;
      return (kept as KeptItems).after(event.history);
    },
    read: (kept: unknown) => (kept as KeptItems).read(),
    load: (state: unknown) =>
      Array.isArray(state) && state.every(isPlainObject)
        ? { kept: new KeptItems(frozenCopy(state).map(keep), keep) }
        : "it is not a list of items",
  });
}

/**
 * A list that each turn cuts and adds to. Each step is a new one on the same items, which shows as
 * many of them as there were then; the list itself is made when somebody reads it.
 */
class KeptItems {
  readonly #items: object[];
  readonly #keep: (item: object) => object;
  readonly #length: number;
  #list: readonly object[] | null = null;

  constructor(items: object[], keep: (item: object) => object) {
    this.#items = items;
    this.#keep = keep;
    this.#length = items.length;
  }

  after({ kept, added }: HistoryStep): KeptItems {
    if (!Number.isSafeInteger(kept) || kept < 0 || kept > this.#length) {
      const remedy = "register the slice before a conversation begins";
      throw new WinkError(`The turn keeps ${kept} of ${this.#length} items: ${remedy}`);
    }
    const isNewest = this.#items.length === kept && this.#length === kept;
    const items = isNewest ? this.#items : this.#items.slice(0, kept);
    for (const item of deepFreeze(added)) items.push(this.#keep(item));
    return new KeptItems(items, this.#keep);
  }

  read(): readonly object[] {
    this.#list ??= Object.freeze(this.#items.slice(0, this.#length));
    return this.#list;
  }
}
