import type { WireItem } from "../../../openai/wire.ts";
import type { SerializedItem } from "../../store/serialized-item.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { Sealer } from "../../turn/sealer.ts";
import { createUnverifiedProblem, openCompactions } from "./compaction.ts";
import { isCompaction } from "./conversation.ts";
import { RecentThreads } from "./recent-threads.ts";
import { Thread, type ThreadPoint } from "./thread.ts";

/** Services to read conversations. */
export interface ThreadServices {
  readonly sealer: Sealer;
  readonly catalog: ToolCatalog;
}

/** Reads stored conversations, and keeps the recently used ones in memory. */
export class Threads {
  readonly #sealer: Sealer;
  readonly #catalog: ToolCatalog;
  /** The cost of a lookup does not depend on a conversation's length. */
  readonly #recent = new RecentThreads();

  constructor({ sealer, catalog }: ThreadServices) {
    this.#sealer = sealer;
    this.#catalog = catalog;
  }

  /** Creates a conversation that is not kept in memory. */
  create(serialized: readonly SerializedItem[]): ThreadPoint {
    const thread = new Thread(this.#catalog);
    if (serialized.length === 0) return thread.point;
    const items = serialized.map(({ item }) => item);
    this.checkSeals(items, 0);
    thread.add(serialized, this.openCompactions(items, thread.point));
    return thread.point;
  }

  /** Returns the conversation with this key. `readItems` reads it from the database if it is not in memory. */
  find(key: string, readItems: () => readonly SerializedItem[]): ThreadPoint {
    const known = this.#recent.get(key);
    if (known) return known;
    const point = this.create(readItems());
    this.#recent.set(key, point);
    return point;
  }

  /** Keeps a conversation in memory under a key. */
  keep(key: string, point: ThreadPoint): void {
    this.#recent.set(key, point);
  }

  /** Continues a conversation with items that were added to it, if it is in memory. `nextKey` replaces its key. */
  extend(key: string, items: readonly SerializedItem[], nextKey: string): void {
    const point = this.#recent.get(key);
    const isPlain = !items.some(({ item }) => isCompaction(item));
    if (point && isPlain && point.thread.items.length === point.items) {
      point.thread.add(items);
      this.#recent.set(nextKey, point.thread.point);
    }
    this.#recent.delete(key);
  }

  /** Removes a conversation that has changed from memory. */
  forget(key: string): void {
    this.#recent.delete(key);
  }

  /** Rejects reasoning that this provider did not encrypt. `count` is the number of items before these. */
  checkSeals(items: readonly WireItem[], count: number): void {
    for (const [index, item] of items.entries()) {
      const { type, encrypted_content: sealed } = item;
      if (type !== "reasoning" || typeof sealed !== "string" || sealed === "") continue;
      if (!this.#sealer.open(sealed)) throw createUnverifiedProblem(item, count + index);
    }
  }

  /** Returns the whole conversation as the model reads it; `null` if the items contain no compaction. */
  openCompactions(items: readonly WireItem[], before: ThreadPoint): readonly WireItem[] | null {
    if (!items.some(isCompaction)) return null;
    const readable = before.thread.readable.slice(0, before.readable);
    const reader = { sealer: this.#sealer, catalog: this.#catalog };
    return openCompactions(items, reader, { count: before.items, readable });
  }
}
