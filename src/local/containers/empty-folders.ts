import { statSync } from "node:fs";
import { type Clock, systemClock } from "../../base/clock.ts";

/** Some file systems round times to seconds. A folder may change twice within that time and show it once. */
const TIMESTAMP_TOLERANCE_MS = 1_100;

const NANOSECONDS_PER_MS = 1_000_000n;

/**
 * Records empty folders by their change time. Adding an entry always advances a folder's change time,
 * and code cannot reset that time. While it is unchanged, the folder is still empty, so reading it is unnecessary.
 */
export class EmptyFolders {
  readonly #clock: Clock;
  readonly #changes = new Map<string, bigint>();

  /** Defaults to the system clock, which is also the source of file times. */
  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Whether the folder was empty and has not changed since. */
  has(id: string, change: bigint | null): boolean {
    return change !== null && this.#changes.get(id) === change;
  }

  /** Records a folder that was found empty. `change` is its change time from before it was read. */
  add(id: string, change: bigint | null): void {
    const isSure =
      change !== null &&
      this.#clock.now() - Number(change / NANOSECONDS_PER_MS) > TIMESTAMP_TOLERANCE_MS;
    if (isSure) this.#changes.set(id, change);
  }

  forget(id: string): void {
    this.#changes.delete(id);
  }
}

/** Returns the time when an entry was last added, removed or renamed, or permissions changed; `null` if the folder does not exist. */
export function getFolderChangeTime(root: string): bigint | null {
  return statSync(root, { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? null;
}
