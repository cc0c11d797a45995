/** An entry of a mounted folder that is not copied. */
export interface SkippedEntry {
  /** The path within the mount. A folder includes everything below it. */
  readonly path: string;
  /** Why the entry is skipped, such as `is a symlink`. */
  readonly reason: string;
}

/** Collects the entries that a mount skips, up to a limit. */
export class SkippedEntries {
  readonly #limit: number;
  readonly #unasked: SkippedEntry[] = [];
  readonly #filtered: SkippedEntry[] = [];
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of entries, including those that `list()` does not return. */
  get count(): number {
    return this.#count;
  }

  /** Adds an entry that globs or `.gitignore` files omit. */
  addFiltered(path: string, reason: string): void {
    this.#add(this.#filtered, { path, reason });
  }

  /** Adds an entry that the user did not ask to omit. */
  addUnasked(path: string, reason: string): void {
    this.#add(this.#unasked, { path, reason });
  }

  /** Returns the first entries: those that the user did not ask to omit, then the others. */
  list(): readonly SkippedEntry[] {
    return [...this.#unasked, ...this.#filtered].slice(0, this.#limit);
  }

  #add(entries: SkippedEntry[], entry: SkippedEntry): void {
    this.#count += 1;
    if (entries.length < this.#limit) entries.push(entry);
  }
}
