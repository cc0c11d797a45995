/** Read–write lock: reads run concurrently, and writes run one at a time, in order. */
export class SharedLock {
  #lastExclusive: Promise<unknown> = Promise.resolve();
  readonly #sharedWork = new Set<Promise<unknown>>();

  /** Runs `work` after all earlier exclusive work, concurrently with other shared work. */
  runShared<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#lastExclusive.then(work);
    const over = ignoreError(result);
    this.#sharedWork.add(over);
    return result.finally(() => this.#sharedWork.delete(over));
  }

  /** Runs `work` alone: after all earlier work and before any later work. */
  runExclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = Promise.all([this.#lastExclusive, ...this.#sharedWork]);
    const result = before.then(work);
    this.#lastExclusive = ignoreError(result);
    return result;
  }
}

/** Returns a promise that never rejects. The caller of the work handles its error. */
function ignoreError(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => undefined);
}
