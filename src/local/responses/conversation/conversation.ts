import type { WireItem } from "../../../openai/wire.ts";
import type { WrittenItem } from "../../store/written-item.ts";
import type { ThreadPoint } from "./thread.ts";

/** What a conversation is made of. */
export interface ConversationParts {
  /** The response that it goes on from. */
  readonly previous: string | null;
  readonly before: ThreadPoint;
  readonly own: readonly WrittenItem[];
  /** All of it as the model reads it, if `own` has more in it than meets the eye. */
  readonly unsealed: readonly WireItem[] | null;
}

/**
 * A request's conversation. What came before is not copied, and nothing of it is looked at again,
 * until somebody asks for all of it.
 */
export class Conversation {
  readonly previous: string | null;
  readonly before: ThreadPoint;
  /** What the request adds, with references resolved. */
  readonly own: readonly WrittenItem[];
  readonly #unsealed: readonly WireItem[] | null;
  #readable: readonly WireItem[] | null = null;

  constructor({ previous, before, own, unsealed }: ConversationParts) {
    this.previous = previous;
    this.before = before;
    this.own = own;
    this.#unsealed = unsealed;
  }

  /** As it is on the wire. */
  get items(): readonly WireItem[] {
    const { thread, items } = this.before;
    return joined(thread.items, items, this.#ownItems());
  }

  /** As the model reads it. */
  get readable(): readonly WireItem[] {
    const { thread, readable } = this.before;
    this.#readable ??= this.#unsealed ?? joined(thread.readable, readable, this.#ownItems());
    return this.#readable;
  }

  /** Those of `readable` that add tools or name containers; one is enough for each container. */
  get notable(): readonly WireItem[] {
    const { thread, notable } = this.before;
    const isNotable = (item: WireItem) => thread.isNotable(item);
    if (this.#unsealed) return this.#unsealed.filter(isNotable);
    return joined(thread.notable, notable, this.#ownItems().filter(isNotable));
  }

  /** Of the JSON of all its items, as one list. */
  get bytes(): number {
    const { items, bytes } = this.before;
    const own = this.own.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    const commas = Math.max(0, items + this.own.length - 1);
    return "[]".length + bytes + own + commas;
  }

  /** Keeps what came of it in memory too, so that the next turn can go on from there. */
  goOn(output: readonly WrittenItem[]): ThreadPoint | null {
    const { thread, items } = this.before;
    const isLast = thread.items.length === items;
    const isPlain = this.#unsealed === null && output.every(({ item }) => !isCompaction(item));
    if (!isLast || !isPlain) return null;
    thread.add(this.own);
    // As they will be read: what the model gave stays the model's.
    thread.add(output.map(({ text }) => ({ item: JSON.parse(text), text })));
    return thread.point;
  }

  #ownItems(): readonly WireItem[] {
    return this.own.map(({ item }) => item);
  }
}

export function isCompaction({ type }: WireItem): boolean {
  return type === "compaction";
}

/** The first `count` of a thread's items, and what comes after: one copy, if any. */
function joined(all: readonly WireItem[], count: number, own: readonly WireItem[]) {
  return (all.length === count ? all : all.slice(0, count)).concat(own);
}
