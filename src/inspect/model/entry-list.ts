import type { Entry } from "../entry.ts";
import type { FileChange } from "../file-change.ts";

/** Where an event is: the number of its record, and its index there. */
export interface EventPosition {
  readonly n: number;
  readonly index: number;
}

/** The most entries of a session. A session with more is shown up to here. */
export const MAX_ENTRIES = 200_000;

/** The entries of a timeline, with their places in the session, and those that changed since they were last taken. */
export class EntryList {
  readonly #entries = new Map<string, Entry>();
  readonly #positions = new Map<string, EventPosition[]>();
  readonly #files = new Map<string, readonly FileChange[]>();
  #changed = new Set<string>();

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether no further entry is accepted. */
  get isFull(): boolean {
    return this.#entries.size >= MAX_ENTRIES;
  }

  /** Adds an entry, and returns its key: the wanted one, or a variant of it if that is taken. */
  add(entry: Entry, position: EventPosition | null): string {
    let { key } = entry;
    for (let count = 2; this.#entries.has(key); count++) key = `${entry.key}~${count}`;
    this.#entries.set(key, { ...entry, key });
    this.#changed.add(key);
    if (position) this.addPosition(key, position);
    return key;
  }

  /** Changes an entry. Does nothing if there is none. */
  update(key: string, changes: Partial<Entry>): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.set(key, { ...entry, ...changes });
    this.#changed.add(key);
  }

  /** Notes that another event belongs to an entry. */
  addPosition(key: string, position: EventPosition): void {
    const positions = this.#positions.get(key);
    if (!positions) this.#positions.set(key, [position]);
    else if (positions.length < MAX_POSITIONS) positions.push(position);
  }

  /** Notes the files that changed with an entry. */
  setFiles(key: string, files: readonly FileChange[]): void {
    if (files.length > 0) this.#files.set(key, files);
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  getPositions(key: string): readonly EventPosition[] {
    return this.#positions.get(key) ?? [];
  }

  getFiles(key: string): readonly FileChange[] {
    return this.#files.get(key) ?? [];
  }

  /** Lists all entries in the order in which they began. */
  list(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  /** Returns the entries that are new or have changed since the last call. */
  takeChanges(): readonly Entry[] {
    const changed = this.#changed;
    this.#changed = new Set();
    return [...changed].flatMap((key) => this.#entries.get(key) ?? []);
  }
}

/** A call has two events, an evaluation three; a hostile session may claim more. */
const MAX_POSITIONS = 8;
