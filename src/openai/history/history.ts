import type { HistoryStep } from "../../adapter/model-client.ts";
import type { WireItem } from "../wire.ts";
import {
  keepValidHistory,
  markRemainingItems,
  markValidItems,
  PairMonitor,
  type StorageMode,
  toSentItem,
} from "./history-pairs.ts";
import { getContainerId } from "./history-repairs.ts";
import { ItemBytes, serializeItem } from "./item-bytes.ts";

/** The options of a `History`. */
export interface HistoryOptions extends StorageMode {
  /** Items from an earlier conversation to continue. @default none */
  readonly items?: readonly object[] | undefined;
}

/** A restore point of a history. It stays valid after any later change. */
export interface HistoryMark {
  readonly contents: HistoryContents;
  readonly count: number;
  readonly promptIndex: number | null;
}

/**
 * A conversation as wire items. Each item is serialized once, when it is added, so the cost of a
 * request or a mark does not grow with the conversation.
 */
export class History {
  /** Items of the earlier conversation that were dropped because the provider would reject them. */
  readonly dropped: readonly WireItem[];
  readonly #storage: StorageMode;
  #contents: HistoryContents = { items: [], bytes: new ItemBytes() };
  #pairMonitor: PairMonitor;
  /** The index of the prompt's item. */
  #promptIndex: number | null = null;
  /** The items at the last step, and how many of them are known to be unchanged since. */
  #lastStep: { readonly items: readonly WireItem[]; readonly count: number };

  /** Throws `WinkError` for items that cannot be serialized, as does every method that adds one. */
  constructor({ stored, items = [] }: HistoryOptions) {
    this.#storage = { stored };
    this.#pairMonitor = new PairMonitor(this.#storage);
    const { items: kept, dropped } = keepValidHistory(items, this.#storage);
    this.dropped = dropped;
    this.add(kept);
    this.#lastStep = { items: this.#contents.items, count: countCommonPrefix(items, kept) };
  }

  /** The items as they were added. The array is live: it changes with the history. */
  get items(): readonly WireItem[] {
    return this.#contents.items;
  }

  get length(): number {
    return this.#contents.items.length;
  }

  /** All items except the prompt, in the form that is sent. */
  get window(): readonly WireItem[] {
    const rest = this.items.filter((_item, index) => index !== this.#promptIndex);
    return rest.map((item) => toSentItem(item, this.#storage));
  }

  /** The size of all items in bytes, in the form that is sent. */
  get byteLength(): number {
    return this.#contents.bytes.length;
  }

  /** Returns the ids of the containers that calls ran in. */
  findContainerIds(): ReadonlySet<string> {
    return new Set(this.items.map(getContainerId).filter((id) => id !== null));
  }

  /** Adds the prompt, or replaces it at its position if its text has changed. */
  setPrompt(text: string): void {
    const message = { type: "message", role: "system", content: text };
    const index = this.#promptIndex;
    if (index === null) {
      this.add([message]);
      this.#promptIndex = this.length - 1;
    } else if (this.items[index]?.["content"] !== text) {
      this.#replaceItem(index, message);
    }
  }

  /** Adds the items. If any of them cannot be serialized, adds none and throws. */
  add(items: readonly WireItem[]): void {
    const texts = items.map((item) => serializeItem(toSentItem(item, this.#storage)));
    for (const text of texts) this.#contents.bytes.add(text);
    for (const item of items) {
      this.#contents.items.push(item);
      this.#pairMonitor.observe(item);
    }
  }

  /** Drops the items that the provider would reject, and returns them. */
  dropInvalid(): readonly WireItem[] {
    return this.#pairMonitor.isComplete
      ? []
      : this.#keepMarked(markValidItems(this.items, this.#storage));
  }

  /** Drops the items that match, and the items that are invalid without them. Returns all of these. */
  drop(matches: (item: WireItem) => boolean): readonly WireItem[] {
    return this.#keepMarked(markRemainingItems(this.items, matches));
  }

  /** Replaces everything except the prompt with a compacted window. */
  replaceWithWindow(window: readonly WireItem[]): void {
    const prompt = this.#promptIndex === null ? undefined : this.items[this.#promptIndex];
    this.#setContents({ items: [], bytes: new ItemBytes() }, null);
    if (prompt) {
      this.add([prompt]);
      this.#promptIndex = 0;
    }
    this.add(window);
  }

  /** Creates a restore point for `restore`. */
  mark(): HistoryMark {
    return { contents: this.#contents, count: this.length, promptIndex: this.#promptIndex };
  }

  /** Undoes every change since the mark. Steps that were already taken stay taken. */
  restore({ contents, count, promptIndex }: HistoryMark): void {
    if (contents === this.#contents && count === this.length) return;
    // Copied, so that later marks do not see items that are added from here.
    const items = contents.items.slice(0, count);
    this.#setContents({ items, bytes: contents.bytes.copyPrefix(count) }, promptIndex);
  }

  /** Returns the changes since the last step. */
  takeStep(): HistoryStep {
    const { items, count } = this.#lastStep;
    // An array that has only grown still has every item of the last step.
    const kept =
      items === this.items ? count : countCommonPrefix(items.slice(0, count), this.items);
    this.#lastStep = { items: this.items, count: this.length };
    return Object.freeze({ kept, added: Object.freeze(this.items.slice(kept)) });
  }

  /**
   * Returns a request body: the items as `input`, followed by the fields of `rest`, which is the JSON
   * of an object with at least one field. The bytes are valid until the next `add`, `setPrompt` or
   * `toRequestBody`.
   */
  toRequestBody(rest: string): Uint8Array<ArrayBuffer> {
    return this.#contents.bytes.toRequest(rest);
  }

  /** Returns the request as a value, for clients that serialize it themselves. */
  toRequestValue<Rest extends object>(rest: Rest): { readonly input: readonly WireItem[] } & Rest {
    return { input: this.items.map((item) => toSentItem(item, this.#storage)), ...rest };
  }

  #replaceItem(index: number, item: WireItem): void {
    const text = this.#contents.bytes.copyPrefix(index);
    text.add(serializeItem(item));
    for (let later = index + 1; later < this.length; later++)
      text.copyItem(this.#contents.bytes, later);
    this.#setContents({ items: this.items.with(index, item), bytes: text }, this.#promptIndex);
  }

  #keepMarked(stays: readonly boolean[]): readonly WireItem[] {
    const first = stays.indexOf(false);
    if (first === -1) return [];
    const text = this.#contents.bytes.copyPrefix(first);
    for (let index = first; index < this.length; index++) {
      if (stays[index]) text.copyItem(this.#contents.bytes, index);
    }
    const dropped = this.items.filter((_item, index) => !stays[index]);
    const items = this.items.filter((_item, index) => stays[index]);
    this.#setContents({ items, bytes: text }, findNewIndex(this.#promptIndex, stays));
    return dropped;
  }

  #setContents(contents: HistoryContents, promptIndex: number | null): void {
    this.#contents = contents;
    this.#promptIndex = promptIndex;
    this.#pairMonitor = new PairMonitor(this.#storage);
    for (const item of contents.items) this.#pairMonitor.observe(item);
  }
}

/** Items and their bytes. Both only grow, so marks stay valid. */
interface HistoryContents {
  readonly items: WireItem[];
  readonly bytes: ItemBytes;
}

function countCommonPrefix(some: readonly object[], others: readonly object[]): number {
  const differs = some.findIndex((item, index) => item !== others[index]);
  return differs === -1 ? some.length : differs;
}

/** Returns the new index of the item at `index` once the others are dropped, or `null` if it is dropped. */
function findNewIndex(index: number | null, stays: readonly boolean[]): number | null {
  if (index === null || !stays[index]) return null;
  return stays.slice(0, index).filter(Boolean).length;
}
