import type { Thread, ThreadPoint } from "./thread.ts";

/** How much is remembered. */
export interface RecentLimits {
  /** @default 64 */
  readonly threads?: number | undefined;
  /** About how much memory they take, all together. @default 32 MiB */
  readonly bytes?: number | undefined;
}

/**
 * Conversations that were read or written lately, by the responses that they can be gone on from. What
 * was used longest ago is forgotten first, and the last one never: it can be read again from the store.
 */
export class RecentThreads {
  readonly #most: { readonly threads: number; readonly bytes: number };
  readonly #points = new Map<string, ThreadPoint>();
  /** The one used longest ago comes first. */
  readonly #held = new Map<Thread, { readonly ids: string[]; bytes: number }>();
  #bytes = 0;

  constructor({ threads = 64, bytes = 32 * 2 ** 20 }: RecentLimits = {}) {
    this.#most = { threads, bytes };
  }

  /** Up to that response; `undefined` if it is forgotten. */
  get(responseId: string): ThreadPoint | undefined {
    const point = this.#points.get(responseId);
    if (point) this.#use(point.thread);
    return point;
  }

  set(responseId: string, point: ThreadPoint): void {
    const held = this.#use(point.thread);
    held.ids.push(responseId);
    this.#points.set(responseId, point);
    this.#bytes += point.thread.size - held.bytes;
    held.bytes = point.thread.size;
    this.#forget();
  }

  #use(thread: Thread) {
    const held = this.#held.get(thread) ?? { ids: [], bytes: 0 };
    this.#held.delete(thread);
    this.#held.set(thread, held);
    return held;
  }

  #forget(): void {
    for (const [thread, { ids, bytes }] of this.#held) {
      const isOver = this.#held.size > this.#most.threads || this.#bytes > this.#most.bytes;
      if (!isOver || this.#held.size === 1) return;
      this.#held.delete(thread);
      this.#bytes -= bytes;
      for (const id of ids) this.#points.delete(id);
    }
  }
}
