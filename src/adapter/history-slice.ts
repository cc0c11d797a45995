import { WinkError } from "../base/errors.ts";
import { copyAndFreeze, deepFreeze, isPlainObject } from "../base/freeze.ts";
import type { BusEvent } from "../session/event-map.ts";
import type { Slice } from "../session/slice.ts";
import type { HistoryStep } from "./model-client.ts";

/** Describes which conversations a history slice stores. */
export interface HistorySliceOptions {
  /** Id of the slice. */
  readonly id: string;
  readonly adapterName: string;
  /** Converts an item before it is stored. @default stores it unchanged */
  readonly keep?: ((item: object) => object) | undefined;
}

/**
 * Creates a slice with the session's last conversation on one adapter, in the provider's own items.
 * `continue` uses it. The cost of a turn does not depend on the length of the conversation.
 */
export function createHistorySlice({
  id,
  adapterName,
  keep = (item) => item,
}: HistorySliceOptions): Slice<readonly object[]> {
  return Object.freeze({
    id,
    policy: "log" as const,
    initial: Object.freeze([]),
    events: Object.freeze(["HistoryAdvanced"]),
    earlierEvents: Object.freeze(["TurnCompleted"]),
    /** Creates a new value for each session, because sessions must not share items. */
    get first() {
      return new ItemList([], keep);
    },
    reduce(kept: unknown, event: BusEvent) {
      const step = findStep(event, adapterName);
      return step ? (kept as ItemList).apply(step) : kept;
    },
    read: (kept: unknown) => (kept as ItemList).read(),
    load: (state: unknown) =>
      Array.isArray(state) && state.every(isPlainObject)
        ? { kept: new ItemList(copyAndFreeze(state).map(keep), keep) }
        : "its state is not an array of items",
    describe: () => `the history of ${adapterName}`,
  });
}

/** Returns the event's step of an adapter's history. Release 0.1.0 stored it in `TurnCompleted`. */
function findStep(event: BusEvent, adapterName: string): HistoryStep | null {
  if (event.type !== "HistoryAdvanced" && event.type !== "TurnCompleted") return null;
  if (event.adapter !== adapterName) return null;
  if (event.type === "HistoryAdvanced") return event;
  return "history" in event ? ((event.history as HistoryStep | undefined) ?? null) : null;
}

/**
 * A list that each step truncates and extends. Each step returns a new `ItemList` that shares the
 * items and records how many it has. The array is created on the first read.
 */
export class ItemList<Item extends object = object> {
  readonly #items: Item[];
  readonly #keep: (item: Item) => Item;
  readonly #length: number;
  #list: readonly Item[] | null = null;

  constructor(items: Item[], keep: (item: Item) => Item = (item) => item) {
    this.#items = items;
    this.#keep = keep;
    this.#length = items.length;
  }

  apply({
    kept,
    added,
  }: {
    readonly kept: number;
    readonly added: readonly Item[];
  }): ItemList<Item> {
    if (!Number.isSafeInteger(kept) || kept < 0 || kept > this.#length) {
      const remedy = "Register the slice before the conversation starts.";
      throw new WinkError(
        `The turn keeps ${kept} items, but the history has ${this.#length}. ${remedy}`,
      );
    }
    const isNewest = this.#items.length === kept && this.#length === kept;
    const items = isNewest ? this.#items : this.#items.slice(0, kept);
    for (const item of deepFreeze(added)) items.push(this.#keep(item));
    return new ItemList(items, this.#keep);
  }

  append(item: Item): ItemList<Item> {
    return this.apply({ kept: this.#length, added: [item] });
  }

  /** Returns the last item that matches. */
  findLast(isMatch: (item: Item) => boolean): Item | undefined {
    for (let index = this.#length - 1; index >= 0; index--) {
      const item = this.#items[index];
      if (item && isMatch(item)) return item;
    }
    return undefined;
  }

  read(): readonly Item[] {
    this.#list ??= Object.freeze(this.#items.slice(0, this.#length));
    return this.#list;
  }
}
