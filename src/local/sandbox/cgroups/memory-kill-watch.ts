import type { Clock } from "../../../base/clock.ts";
import type { ResourceGroup } from "./resource-control.ts";

/**
 * Ends a whole group soon after the kernel killed one of its processes because the memory was used up, so
 * that a run does not continue with a part of it missing.
 */
export class MemoryKillWatch {
  readonly #group: ResourceGroup;
  readonly #clock: Clock;
  #runs = 0;
  #kills = 0;
  #isWatching = false;

  constructor(group: ResourceGroup, clock: Clock) {
    this.#group = group;
    this.#clock = clock;
  }

  /** Watches the group during `work`. */
  async runWatched<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#runs++;
    if (!this.#isWatching) void this.#watch();
    try {
      return await work();
    } finally {
      this.#runs--;
    }
  }

  /** Returns whether the kernel killed a process since the last call. */
  ranOutOfMemory(): boolean {
    const kills = this.#group.countMemoryKills();
    const isNew = kills > this.#kills;
    this.#kills = kills;
    return isNew;
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    try {
      do {
        await this.#clock.sleep(WATCH_EVERY_MS, undefined, { background: true });
        if (this.#runs > 0 && this.#group.countMemoryKills() > this.#kills) this.#group.kill();
      } while (this.#runs > 0);
    } catch {
      // The group has just been removed.
    } finally {
      this.#isWatching = false;
    }
  }
}

const WATCH_EVERY_MS = 20;
