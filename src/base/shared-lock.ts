/** Work that only looks runs side by side; work that changes something runs alone, in its turn. */
export class SharedLock {
  #lastChange: Promise<unknown> = Promise.resolve();
  readonly #looking = new Set<Promise<unknown>>();

  /** Does `work` once the changes asked for before are done. */
  share<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#lastChange.then(work);
    const over = ended(result);
    this.#looking.add(over);
    return result.finally(() => this.#looking.delete(over));
  }

  /** Does `work` once everything asked for before is done; what is asked for later waits. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = Promise.all([this.#lastChange, ...this.#looking]);
    const result = before.then(work);
    this.#lastChange = ended(result);
    return result;
  }
}

/** A failure is for whoever asked for the work. */
function ended(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => undefined);
}
