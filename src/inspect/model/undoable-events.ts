import type { EntryList } from "./entry-list.ts";

/** The application's events that no rollback has undone, oldest first. */
export class UndoableEvents {
  readonly #entries: EntryList;
  readonly #events: { readonly key: string; readonly n: number }[] = [];

  constructor(entries: EntryList) {
    this.#entries = entries;
  }

  /** Adds an event: the key of its entry, and the number of its record. */
  add(key: string, n: number): void {
    this.#events.push({ key, n });
  }

  /** Undoes the events of record `n` and later ones. Returns their titles, oldest first. */
  undoFrom(n: number): readonly string[] {
    const titles: string[] = [];
    // Each event is undone once, so that many rollbacks do not cost more than the events before them.
    for (let last = this.#events.at(-1); last && last.n >= n; last = this.#events.at(-1)) {
      titles.push(this.#undoLast());
    }
    return titles.reverse();
  }

  /** Undoes the last events as long as they belong to an entry. */
  undoBelow(parent: string): void {
    while (this.#entries.get(this.#events.at(-1)?.key ?? "")?.parent === parent) this.#undoLast();
  }

  /** Marks the last event as undone, and returns its title. */
  #undoLast(): string {
    const { key = "" } = this.#events.pop() ?? {};
    this.#entries.update(key, { isUndone: true });
    return this.#entries.get(key)?.title ?? "";
  }
}
