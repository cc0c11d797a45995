import type { WireItem } from "../../../openai/wire.ts";
import type { StoredConversation } from "../../conversations/conversation-store.ts";
import type { SerializedItem } from "../../store/serialized-item.ts";
import type { ThreadPoint } from "./thread.ts";

/** The parts of a {@link Conversation}. */
export interface ConversationParts {
  /** The id of the response that it continues from. */
  readonly previous: string | null;
  /** The stored conversation that the request names, as it was when the request arrived. @default null */
  readonly home?: StoredConversation | null | undefined;
  readonly before: ThreadPoint;
  readonly own: readonly SerializedItem[];
  /** The whole conversation as the model reads it, if `own` contains compactions. Otherwise `null`. */
  readonly unsealed: readonly WireItem[] | null;
}

/**
 * The conversation of one request. Earlier items are not copied or checked again, unless a caller reads the whole
 * conversation.
 */
export class Conversation {
  readonly previous: string | null;
  readonly home: StoredConversation | null;
  readonly before: ThreadPoint;
  /** The items that the request adds, with references resolved. */
  readonly own: readonly SerializedItem[];
  readonly #unsealed: readonly WireItem[] | null;
  #readable: readonly WireItem[] | null = null;

  constructor({ previous, home = null, before, own, unsealed }: ConversationParts) {
    this.previous = previous;
    this.home = home;
    this.before = before;
    this.own = own;
    this.#unsealed = unsealed;
  }

  /** All items in wire format. */
  get items(): readonly WireItem[] {
    const { thread, items } = this.before;
    return joinItems(thread.items, items, this.#getOwnItems());
  }

  /** All items as the model reads them. */
  get readable(): readonly WireItem[] {
    const { thread, readable } = this.before;
    this.#readable ??= this.#unsealed ?? joinItems(thread.readable, readable, this.#getOwnItems());
    return this.#readable;
  }

  /** The items of `readable` that add tools or files or name containers. Each container has at least one. */
  get notable(): readonly WireItem[] {
    const { thread, notable } = this.before;
    const isNotable = (item: WireItem) => thread.isNotable(item);
    if (this.#unsealed) return this.#unsealed.filter(isNotable);
    return joinItems(thread.notable, notable, this.#getOwnItems().filter(isNotable));
  }

  /** The byte length of the JSON array of all items. */
  get bytes(): number {
    const { items, bytes } = this.before;
    const own = this.own.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    const commas = Math.max(0, items + this.own.length - 1);
    return "[]".length + bytes + own + commas;
  }

  /** Adds the turn's output to the thread in memory, so that the next turn can continue from there. */
  continueWith(output: readonly SerializedItem[]): ThreadPoint | null {
    const { thread, items } = this.before;
    const isLast = thread.items.length === items;
    const isPlain = this.#unsealed === null && output.every(({ item }) => !isCompaction(item));
    if (!isLast || !isPlain) return null;
    thread.add(this.own);
    // Parsed from JSON, as after a restart: the model keeps its own objects.
    thread.add(output.map(({ text }) => ({ item: JSON.parse(text), text })));
    return thread.point;
  }

  #getOwnItems(): readonly WireItem[] {
    return this.own.map(({ item }) => item);
  }
}

export function isCompaction({ type }: WireItem): boolean {
  return type === "compaction";
}

/** Appends items to a thread's first `count` items. Copies at most once. */
function joinItems(all: readonly WireItem[], count: number, own: readonly WireItem[]) {
  return (all.length === count ? all : all.slice(0, count)).concat(own);
}
