import { statSync } from "node:fs";
import { type Clock, systemClock } from "../../base/clock.ts";

/** File systems tell time in ticks, some in seconds: within one, a folder may change and not show it. */
const BLUR_MS = 1_100;

const NANOSECONDS = 1_000_000n;

/**
 * Folders in which nothing was found. Nothing comes into one without its time of change moving on,
 * which no code can set back; while that stays, the folder is empty still and need not be read.
 */
export class EmptyFolders {
  readonly #clock: Clock;
  readonly #changes = new Map<string, bigint>();

  /** Files bear the times of the machine's clock, whichever others go by. */
  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Whether the folder was empty and is. */
  has(id: string, change: bigint | null): boolean {
    return change !== null && this.#changes.get(id) === change;
  }

  /** Notes a folder that was empty when it was read; `change` is from before that. */
  note(id: string, change: bigint | null): void {
    const isSure = change !== null && this.#clock.now() - Number(change / NANOSECONDS) > BLUR_MS;
    if (isSure) this.#changes.set(id, change);
  }

  forget(id: string): void {
    this.#changes.delete(id);
  }
}

/** When something last came, went or was renamed in a folder, or its rights changed; `null` if it is not there. */
export function lastChangeOf(root: string): bigint | null {
  return statSync(root, { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? null;
}
