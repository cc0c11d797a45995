import { deepFreeze } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import type { WrittenItem } from "../../store/written-item.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { History, type HistoryPoint } from "../history.ts";

/** A conversation up to some response: a part of a thread, of which nothing is copied. */
export interface ThreadPoint {
  readonly thread: Thread;
  /** How many of the thread's items it has; the other lists likewise. */
  readonly items: number;
  readonly readable: number;
  readonly notable: number;
  /** Of its items' JSON. */
  readonly bytes: number;
  readonly history: HistoryPoint;
}

/** A conversation in memory, parsed, checked and readable. Items are only ever added. */
export class Thread {
  readonly items: WireItem[] = [];
  /** The same for the model: with what is sealed in it made readable. */
  readonly readable: WireItem[] = [];
  /** Those of `readable` that every later turn asks for. */
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

  /** About how many bytes of memory it takes. */
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
   * Adds items. `readable` is what the model reads instead of them, if that differs. Models see the same objects
   * turn after turn, so they are frozen.
   */
  add(items: readonly WrittenItem[], readable: readonly WireItem[] | null = null): void {
    const bytes = items.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    this.#bytes += bytes;
    for (const { item } of items) {
      this.items.push(deepFreeze(item));
      this.#history.add(item);
    }
    const read = readable?.map((item) => deepFreeze(item)) ?? items.map(({ item }) => item);
    for (const item of read) {
      this.readable.push(item);
      if (this.isNotable(item) && !this.#isKnown(item)) this.notable.push(item);
    }
    const readBytes = readable ? Buffer.byteLength(JSON.stringify(readable)) : 0;
    this.#size += bytes + readBytes + BYTES_PER_ITEM * read.length;
  }

  /** Whether turns look for the item in everything before them: it adds tools, or needs its container. */
  isNotable(item: WireItem): boolean {
    const { type } = item;
    if (type === "additional_tools") return true;
    const isNeeded = this.#catalog.byItem.get(type)?.needsContainer === true;
    return isNeeded && this.#catalog.findContainer(item) !== null;
  }

  /** Another call in the same container. */
  #isKnown(item: WireItem): boolean {
    const id = this.#catalog.findContainer(item);
    if (id === null) return false;
    const isKnown = this.#containers.has(id);
    this.#containers.add(id);
    return isKnown;
  }
}

/** An object takes several times its JSON, however short that is. */
const BYTES_PER_ITEM = 512;
