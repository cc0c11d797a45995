import type { Thread, ThreadPoint } from "./thread.ts";

/** Limits of the cache. */
export interface RecentLimits {
  /** The maximum number of threads. @default 64 */
  readonly threads?: number | undefined;
  /** The approximate memory of all threads together. @default 32 MiB */
  readonly bytes?: number | undefined;
}

/**
 * A cache of conversations, by the ids of the responses that they can be continued from. It evicts the least
 * recently used conversation first, but never the last one. Evicted conversations are read from the database
 * again.
 */
export class RecentThreads {
  readonly #limits: { readonly threads: number; readonly bytes: number };
  readonly #points = new Map<string, ThreadPoint>();
  /** Threads with their response ids and sizes. The least recently used one comes first. */
  readonly #entries = new Map<Thread, { readonly ids: Set<string>; bytes: number }>();
  #bytes = 0;

  constructor({ threads = 64, bytes = 32 * 2 ** 20 }: RecentLimits = {}) {
    this.#limits = { threads, bytes };
  }

  /** Returns the conversation up to this response, or `undefined` if it is not cached. */
  get(responseId: string): ThreadPoint | undefined {
    const point = this.#points.get(responseId);
    if (point) this.#touch(point.thread);
    return point;
  }

  set(responseId: string, point: ThreadPoint): void {
    const held = this.#touch(point.thread);
    held.ids.add(responseId);
    this.#points.set(responseId, point);
    this.#bytes += point.thread.size - held.bytes;
    held.bytes = point.thread.size;
    this.#evict();
  }

  /** Removes an id that no request can use anymore. A conversation without ids is evicted. */
  delete(id: string): void {
    const point = this.#points.get(id);
    if (!point) return;
    this.#points.delete(id);
    const { ids, bytes } = this.#touch(point.thread);
    ids.delete(id);
    if (ids.size > 0) return;
    this.#entries.delete(point.thread);
    this.#bytes -= bytes;
  }

  #touch(thread: Thread) {
    const held = this.#entries.get(thread) ?? { ids: new Set<string>(), bytes: 0 };
    this.#entries.delete(thread);
    this.#entries.set(thread, held);
    return held;
  }

  #evict(): void {
    for (const [thread, { ids, bytes }] of this.#entries) {
      const isOver = this.#entries.size > this.#limits.threads || this.#bytes > this.#limits.bytes;
      if (!isOver || this.#entries.size === 1) return;
      this.#entries.delete(thread);
      this.#bytes -= bytes;
      for (const id of ids) this.#points.delete(id);
    }
  }
}
