import type { Clock } from "../../../base/clock.ts";
import type { ResourceGroup } from "./resource-control.ts";

/** Freezes a group once no run has used it for a moment, so that runs in quick succession do not pay for it. */
export class IdleFreezer implements Disposable {
  readonly #group: ResourceGroup;
  readonly #clock: Clock;
  readonly #disposal = new AbortController();
  #runs = 0;
  #isFrozen = false;
  #isWaiting = false;
  #freezeAt = 0;

  constructor(group: ResourceGroup, clock: Clock) {
    this.#group = group;
    this.#clock = clock;
  }

  /** Runs `work`, before which the group continues. A run that fails may still be stopping, so it gets more time. */
  async keepThawed<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#runs++;
    if (this.#isFrozen) this.#setFrozen(false);
    let pauseMs = STOPPING_MS;
    try {
      const result = await work();
      pauseMs = IDLE_MS;
      return result;
    } finally {
      this.#runs--;
      this.#freezeAt = this.#clock.now() + pauseMs;
      if (!this.#isWaiting) void this.#freezeWhenIdle();
    }
  }

  /** Freezes nothing any more. A frozen group stays frozen. */
  [Symbol.dispose](): void {
    this.#disposal.abort();
  }

  async #freezeWhenIdle(): Promise<void> {
    this.#isWaiting = true;
    const { signal } = this.#disposal;
    try {
      for (let left = IDLE_MS; left > 0; left = this.#freezeAt - this.#clock.now())
        await this.#clock.sleep(left, signal, { background: true });
      if (this.#runs === 0 && !signal.aborted) this.#setFrozen(true);
    } catch {
      // Disposed of, or the group has just been removed.
    } finally {
      this.#isWaiting = false;
    }
  }

  #setFrozen(frozen: boolean): void {
    if (frozen) this.#group.freeze();
    else this.#group.thaw();
    this.#isFrozen = frozen;
  }
}

const IDLE_MS = 50;

/** After a failed run, such as an aborted one, code gets its chance to stop by itself. */
const STOPPING_MS = 3_000;
