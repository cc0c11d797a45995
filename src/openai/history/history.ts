import type { HistoryStep } from "../../adapter/model-client.ts";
import { readString } from "../../base/json.ts";
import type { WireItem } from "../wire.ts";
import {
  classifyItem,
  hasAttachment,
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
  /**
   * Where the prompt is in `items`, if they are resumed: taken as they are, also with calls that have no
   * output yet. @default the items are repaired
   */
  readonly resumed?: PromptPlaces | undefined;
}

/** Where the messages of the evaluation's prompt are. An index is `null` without such an item. */
export interface PromptPlaces {
  /** The index of the system text. */
  readonly system: number | null;
  /** The index of the text for the user. */
  readonly user: number | null;
  /** The text for the user that a compaction has replaced; `null` before one has. */
  readonly compactedUser: string | null;
}

/** A restore point of a history. It stays valid after any later change. */
export interface HistoryMark {
  readonly contents: HistoryContents;
  readonly count: number;
  readonly prompt: OpenPrompt;
}

/**
 * A conversation as wire items. Each item is serialized once at most, so the cost of a request or a mark does not
 * grow with the conversation.
 */
export class History {
  /** Items of the earlier conversation that were dropped because the provider would reject them. */
  readonly dropped: readonly WireItem[];
  readonly #storage: StorageMode;
  #contents = createContents();
  #pairMonitor: PairMonitor;
  #prompt: OpenPrompt = NO_PROMPT;
  #hasAttachments = false;
  /** The items at the last step, and how many of them are known to be unchanged since. */
  #lastStep: { readonly items: readonly WireItem[]; readonly count: number };

  /** Throws `WinkError` for items that cannot be serialized, as does every method that adds one. */
  constructor({ stored, items = [], resumed }: HistoryOptions) {
    this.#storage = { stored };
    this.#pairMonitor = new PairMonitor(this.#storage);
    const isTaken = resumed !== undefined || items.length === 0;
    const { items: kept, dropped } = isTaken
      ? { items: items as readonly WireItem[], dropped: [] }
      : keepValidHistory(items, this.#storage);
    this.dropped = dropped;
    this.add(kept);
    if (resumed) this.#prompt = { ...resumed, opening: null };
    this.#lastStep = { items: this.#contents.items, count: countCommonPrefix(items, kept) };
  }

  /** The items as they were added. The array is live: it changes with the history. */
  get items(): readonly WireItem[] {
    return this.#contents.items;
  }

  get length(): number {
    return this.#contents.items.length;
  }

  /** All items except the prompt's system text and its opening, in the form that is sent. */
  get window(): readonly WireItem[] {
    const { system, opening } = this.#prompt;
    const rest = this.items.slice(0, opening ?? this.length);
    return rest
      .filter((_item, index) => index !== system)
      .map((item) => toSentItem(item, this.#storage));
  }

  /** Whether an item contains a file or an image, whose tokens do not depend on the item's bytes. */
  get hasAttachments(): boolean {
    return this.#hasAttachments;
  }

  /** Whether the last item waits for the model: a message to it, or the output of a call. */
  get endsWithInput(): boolean {
    const last = this.items.at(-1);
    return last !== undefined && classifyItem(last) === "input";
  }

  /** The size of all items in bytes, in the form that is sent. */
  get byteLength(): number {
    return this.#serializeAll(this.#contents).length;
  }

  /** Where the prompt is. */
  get places(): PromptPlaces {
    return this.#prompt;
  }

  /** Returns the ids of the containers that calls ran in. */
  findContainerIds(): ReadonlySet<string> {
    return new Set(this.items.map(getContainerId).filter((id) => id !== null));
  }

  /**
   * Takes the last system message as the prompt's system text if it has the same text. Returns whether
   * it does.
   */
  adoptSystemText(text: string): boolean {
    const index = this.items.findLastIndex(({ role }) => role === "system");
    if (this.items[index]?.["content"] !== text) return false;
    this.#prompt = { ...this.#prompt, system: index };
    return true;
  }

  /**
   * Adds the prompt's text of one role, or replaces it at its position if it has changed; `null`
   * removes it. Text for the user that a compaction has replaced is added only if it has changed.
   */
  setPrompt(text: string | null, role: "system" | "user" = "system"): void {
    const index = this.#prompt[role];
    if (index === null) {
      if (text !== null && !(role === "user" && text === this.#prompt.compactedUser)) {
        this.add([{ type: "message", role, content: text }]);
        this.#prompt = { ...this.#prompt, [role]: this.length - 1 };
      }
    } else if (text === null) {
      this.#keepMarked(this.items.map((_item, other) => other !== index));
    } else if (this.items[index]?.["content"] !== text) {
      this.#replaceItem(index, { type: "message", role, content: text });
    }
  }

  /** Starts the opening: the items from here on are not compacted until `endOpening`. */
  startOpening(): void {
    this.#prompt = { ...this.#prompt, opening: this.length };
  }

  /** Ends the opening, because the model has answered it. */
  endOpening(): void {
    this.#prompt = { ...this.#prompt, opening: null };
  }

  /** Adds the items. If any of them cannot be serialized, adds none and throws. */
  add(items: readonly WireItem[]): void {
    const texts = items.map((item) => serializeItem(toSentItem(item, this.#storage)));
    const bytes = this.#serializeAll(this.#contents);
    for (const text of texts) bytes.add(text);
    this.addParsed(items);
  }

  /**
   * Adds items that were parsed from JSON, and may not change any more. They are serialized when a request needs
   * them: the last answer of most conversations never is.
   */
  addParsed(items: readonly WireItem[]): void {
    for (const item of items) {
      this.#contents.items.push(item);
      this.#observe(item);
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

  /** Replaces everything except the prompt's system text and its opening with a compacted window. */
  replaceWithWindow(window: readonly WireItem[]): void {
    const { system, user, opening } = this.#prompt;
    const prompt = this.items.filter((_item, index) => index === system);
    const isOpen = (index: number | null) => index !== null && opening !== null && index >= opening;
    const opened = this.items.filter((_item, index) => isOpen(index) && index !== system);
    const start = prompt.length + window.length;
    const userItem = user === null ? undefined : this.items[user];
    const isUserOpen = userItem !== undefined && isOpen(user);
    const compactedUser = isUserOpen || !userItem ? null : readString(userItem, "content");
    this.#setContents(createContents(), {
      system: system === null ? null : 0,
      user: isUserOpen ? start + opened.indexOf(userItem) : null,
      opening: opening === null ? null : start,
      compactedUser: compactedUser ?? this.#prompt.compactedUser,
    });
    this.add([...prompt, ...window, ...opened]);
  }

  /** Creates a restore point for `restore`. */
  mark(): HistoryMark {
    return { contents: this.#contents, count: this.length, prompt: this.#prompt };
  }

  /** Undoes every change since the mark. Steps that were already taken stay taken. */
  restore({ contents, count, prompt }: HistoryMark): void {
    this.#prompt = prompt;
    if (contents === this.#contents && count === this.length) return;
    // Copied, so that later marks do not see items that are added from here.
    const items = contents.items.slice(0, count);
    const bytes = this.#serializeAll(contents).copyPrefix(count);
    this.#setContents({ items, bytes }, prompt);
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
    return this.#serializeAll(this.#contents).toRequest(rest);
  }

  /** Returns a function that computes the SHA-256 of the request that `toRequestBody` returns now, at any time. */
  createDigest(getRest: () => string): () => string {
    return this.#serializeAll(this.#contents).createDigest(getRest);
  }

  /** Returns the request as a value, for clients that serialize it themselves. */
  toRequestValue<Rest extends object>(rest: Rest): { readonly input: readonly WireItem[] } & Rest {
    return { input: this.items.map((item) => toSentItem(item, this.#storage)), ...rest };
  }

  #replaceItem(index: number, item: WireItem): void {
    const before = this.#serializeAll(this.#contents);
    const bytes = before.copyPrefix(index);
    bytes.add(serializeItem(item));
    for (let later = index + 1; later < this.length; later++) bytes.copyItem(before, later);
    this.#setContents({ items: this.items.with(index, item), bytes }, this.#prompt);
  }

  #keepMarked(stays: readonly boolean[]): readonly WireItem[] {
    const first = stays.indexOf(false);
    if (first === -1) return [];
    const before = this.#serializeAll(this.#contents);
    const bytes = before.copyPrefix(first);
    for (let index = first; index < this.length; index++) {
      if (stays[index]) bytes.copyItem(before, index);
    }
    const dropped = this.items.filter((_item, index) => !stays[index]);
    const items = this.items.filter((_item, index) => stays[index]);
    const { system, user, opening, compactedUser } = this.#prompt;
    this.#setContents(
      { items, bytes },
      {
        system: findNewIndex(system, stays),
        user: findNewIndex(user, stays),
        opening: opening === null ? null : countTrue(stays.slice(0, opening)),
        compactedUser,
      },
    );
    return dropped;
  }

  #setContents(contents: HistoryContents, prompt: OpenPrompt): void {
    this.#contents = contents;
    this.#prompt = prompt;
    this.#pairMonitor = new PairMonitor(this.#storage);
    this.#hasAttachments = false;
    for (const item of contents.items) this.#observe(item);
  }

  /** Serializes the items that are not serialized yet. Returns the bytes of all items. */
  #serializeAll({ items, bytes }: HistoryContents): ItemBytes {
    for (let index = bytes.count; index < items.length; index++) {
      const item = items[index];
      if (item) bytes.add(serializeItem(toSentItem(item, this.#storage)));
    }
    return bytes;
  }

  #observe(item: WireItem): void {
    this.#pairMonitor.observe(item);
    this.#hasAttachments ||= hasAttachment(item);
  }
}

/** The prompt in a history. */
interface OpenPrompt extends PromptPlaces {
  /** The index of the first item that is not compacted, because the model has not answered it yet. */
  readonly opening: number | null;
}

const NO_PROMPT: OpenPrompt = Object.freeze({
  system: null,
  user: null,
  opening: null,
  compactedUser: null,
});

/** Items, and the bytes of all or the first of them. Both only grow, so marks stay valid. */
interface HistoryContents {
  readonly items: WireItem[];
  readonly bytes: ItemBytes;
}

function createContents(): HistoryContents {
  return { items: [], bytes: new ItemBytes() };
}

function countCommonPrefix(some: readonly object[], others: readonly object[]): number {
  const differs = some.findIndex((item, index) => item !== others[index]);
  return differs === -1 ? some.length : differs;
}

/** Returns the new index of the item at `index` once the others are dropped, or `null` if it is dropped. */
function findNewIndex(index: number | null, stays: readonly boolean[]): number | null {
  if (index === null || !stays[index]) return null;
  return countTrue(stays.slice(0, index));
}

function countTrue(values: readonly boolean[]): number {
  return values.filter(Boolean).length;
}
