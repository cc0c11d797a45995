import { frozenCopy } from "../base/freeze.ts";
import type { BusEvent, EventOf, EventType } from "./event-map.ts";
import type { Slice } from "./slice.ts";

/** A log slice of every event of one type. An event costs the same however long the log is. */
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
    reduce: (kept: unknown, event: BusEvent) => (kept as Log<Entry>).with(event as Entry),
    read: (kept: unknown) => (kept as Log<Entry>).read(),
    load: (state: unknown) =>
      Array.isArray(state)
        ? { kept: new Log<Entry>([...frozenCopy(state)]) }
        : "it is not a list of events",
  });
}

/**
 * A list that is only ever added to. Each addition is a new `Log` on the same entries, which shows
 * as many of them as there were then; the list itself is made when somebody reads it.
 */
class Log<Entry> {
  readonly #entries: Entry[];
  readonly #length: number;
  #list: readonly Entry[] | null = null;

  constructor(entries: Entry[]) {
    this.#entries = entries;
    this.#length = entries.length;
  }

  with(entry: Entry): Log<Entry> {
    // The empty log is its slice's, for all sessions: it must not hold on to the entries of one.
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
