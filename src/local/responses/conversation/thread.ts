import { deepFreeze } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { hasInputFiles } from "../../input-files.ts";
import type { SerializedItem } from "../../store/serialized-item.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { History, type HistoryPoint } from "../history.ts";

/** A conversation up to some response: a prefix of a thread, without copies. */
export interface ThreadPoint {
  readonly thread: Thread;
  /** The length of the prefix of the thread's `items`. `readable` and `notable` are lengths too. */
  readonly items: number;
  readonly readable: number;
  readonly notable: number;
  /** The byte length of its items' JSON. */
  readonly bytes: number;
  readonly history: HistoryPoint;
}

/** A conversation in memory, parsed and checked. Append-only. */
export class Thread {
  readonly items: WireItem[] = [];
  /** The items as the model reads them: with compactions opened. */
  readonly readable: WireItem[] = [];
  /** The items of `readable` that every later turn needs. */
  readonly notable: WireItem[] = [];
  readonly #containers = new Set<unknown>();
  readonly #catalog: ToolCatalog;
  readonly #history: History;
  #bytes = 0;
  #size = 0;

  constructor(catalog: ToolCatalog) {
    this.#catalog = catalog;
    this.#history = new History(catalog);
  }

  /** The approximate memory it uses, in bytes. */
  get size(): number {
    return this.#size;
  }

  get point(): ThreadPoint {
    return {
      thread: this,
      items: this.items.length,
      readable: this.readable.length,
      notable: this.notable.length,
      bytes: this.#bytes,
      history: this.#history.point,
    };
  }

  /**
   * Adds items. `readable` replaces them for the model, if it differs. The items are frozen, because models see the
   * same objects in every turn.
   */
  add(items: readonly SerializedItem[], readable: readonly WireItem[] | null = null): void {
    const bytes = items.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    this.#bytes += bytes;
    for (const { item } of items) {
      this.items.push(deepFreeze(item));
      this.#history.add(item);
    }
    const read = readable?.map((item) => deepFreeze(item)) ?? items.map(({ item }) => item);
    for (const item of read) {
      this.readable.push(item);
      if (this.isNotable(item) && !this.#hasSeenContainer(item)) this.notable.push(item);
    }
    const readBytes = readable ? Buffer.byteLength(JSON.stringify(readable)) : 0;
    this.#size += bytes + readBytes + BYTES_PER_ITEM * read.length;
  }

  /** Returns whether later turns need the item: it adds tools or files, or its container must be alive. */
  isNotable(item: WireItem): boolean {
    if (this.#catalog.addsTools(item) || hasInputFiles(item)) return true;
    const isNeeded = this.#catalog.byItem.get(item["type"])?.needsContainer === true;
    return isNeeded && this.#catalog.findContainer(item) !== null;
  }

  /** Returns whether an earlier item has the same container. */
  #hasSeenContainer(item: WireItem): boolean {
    const id = this.#catalog.findContainer(item);
    if (id === null) return false;
    const isKnown = this.#containers.has(id);
    this.#containers.add(id);
    return isKnown;
  }
}

/** The overhead of an object in memory, however short its JSON is. */
const BYTES_PER_ITEM = 512;
