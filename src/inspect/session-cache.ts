import { FollowedSession } from "./followed-session.ts";
import type { InspectorSource } from "./inspector-source.ts";

/**
 * Maximum number of sessions in memory that have no follower. The list asks for the summaries of all its visible lines
 * every few seconds; with fewer, each of them would be read from its beginning every time.
 */
const MAX_IDLE = 100;

/** Opens each session of a source once, and forgets the least recently used ones. */
export class SessionCache {
  readonly #source: InspectorSource;
  readonly #sessions = new Map<string, Promise<FollowedSession | null>>();

  constructor(source: InspectorSource) {
    this.#source = source;
  }

  /** Returns a session, or `null` if the source does not have it. */
  async get(id: string): Promise<FollowedSession | null> {
    const known = this.#sessions.get(id);
    const opening = known ?? this.#open(id);
    this.#sessions.delete(id);
    this.#sessions.set(id, opening); // the last one is the newest
    const session = await opening.catch((error: unknown) => {
      this.#sessions.delete(id);
      throw error;
    });
    if (!session) this.#sessions.delete(id);
    return session;
  }

  /** Stops following all sessions. */
  async close(): Promise<void> {
    for (const opening of this.#sessions.values()) {
      (await opening.catch(() => null))?.[Symbol.dispose]();
    }
    this.#sessions.clear();
  }

  async #open(id: string): Promise<FollowedSession | null> {
    this.#forgetOldest();
    const feed = await this.#source.open(id);
    return feed && new FollowedSession(id, feed);
  }

  /** Followed sessions stay alive without the cache: their followers have them. */
  #forgetOldest(): void {
    for (const id of this.#sessions.keys()) {
      if (this.#sessions.size < MAX_IDLE) return;
      this.#sessions.delete(id);
    }
  }
}
