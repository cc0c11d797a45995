import { copyAndFreeze } from "../base/freeze.ts";
import type { BusEvent, EventOf, EventType } from "./event-map.ts";
import type { Slice } from "./slice.ts";

/**
 * Creates a log slice of every event of one type. The cost of an event does not depend on the log's
 * length.
 */
export function logSlice<Type extends EventType>(
  id: string,
  type: Type,
): Slice<readonly EventOf<Type>[]> {
  type Entry = EventOf<Type>;
  return Object.freeze({
    id,
    policy: "log" as const,
    initial: Object.freeze([]),
    events: Object.freeze([type]),
    first: new Log<Entry>([]),
    reduce: (kept: unknown, event: BusEvent) => (kept as Log<Entry>).append(event as Entry),
    read: (kept: unknown) => (kept as Log<Entry>).read(),
    load: (state: unknown) =>
      Array.isArray(state)
        ? { kept: new Log<Entry>([...copyAndFreeze(state)]) }
        : "its state is not an array of events",
    describe: () => `a log of ${type}`,
  });
}

/**
 * An append-only list. Each addition returns a new `Log` that shares the entries and records how
 * many it has. The array is created on the first read.
 */
class Log<Entry> {
  readonly #entries: Entry[];
  readonly #length: number;
  #list: readonly Entry[] | null = null;

  constructor(entries: Entry[]) {
    this.#entries = entries;
    this.#length = entries.length;
  }

  append(entry: Entry): Log<Entry> {
    // The empty log is shared by all sessions of the slice, so it must not retain their entries.
    const isNewest = this.#entries.length === this.#length && this.#length > 0;
    const entries = isNewest ? this.#entries : this.#entries.slice(0, this.#length);
    entries.push(entry);
    return new Log(entries);
  }

  read(): readonly Entry[] {
    this.#list ??= Object.freeze(this.#entries.slice(0, this.#length));
    return this.#list;
  }
}
