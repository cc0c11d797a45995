/** Holds one slot while its process is open. */
export interface SlotHolder {
  /** Ends an idle process, so that another container can use its slot. Never rejects. */
  evict(): Promise<void>;
}

/**
 * Limits how many processes are open at the same time. When all slots are taken, the least recently used idle process
 * is ended. If none is idle, callers wait in the order of their arrival. A running process is never ended.
 */
export class ProcessSlots {
  readonly #max: number;
  #taken = 0;
  /** The holders without work, the least recently used one first. */
  readonly #idle = new Set<SlotHolder>();
  readonly #waiting = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a slot, after waiting for one if needed. Rejects with the signal's reason if it aborts first. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#max) {
      this.#taken += 1;
      return;
    }
    const [oldest] = this.#idle;
    if (oldest) {
      this.#idle.delete(oldest);
      await oldest.evict();
      return;
    }
    await this.#wait(signal);
  }

  /** Gives a slot back, to the first who waits for one. */
  release(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#taken -= 1;
  }

  /** Records that a holder has no work. If others wait, its process is ended at once. */
  markIdle(holder: SlotHolder): void {
    if (this.#waiting.size > 0) void holder.evict().then(() => this.release());
    else this.#idle.add(holder);
  }

  /** Records that a holder has work, or has ended. Its process is not ended for others. */
  markBusy(holder: SlotHolder): void {
    this.#idle.delete(holder);
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      this.#waiting.delete(start);
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const stop = () => {
      this.#waiting.delete(start);
      reject(signal.reason);
    };
    this.#waiting.add(start);
    signal.addEventListener("abort", stop, { once: true });
    return promise;
  }
}
