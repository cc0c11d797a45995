import { type SessionClaim, type SessionStore, SessionStoreError } from "./session-store.ts";

/** What to do while another writer holds the session. */
export type IfClaimed = "refuse" | "wait";

/** Options of {@link SharedClaim.acquire}. */
export interface AcquireOptions {
  /** Whether to wait until the other writer releases the session or ends. @default "refuse" */
  readonly ifClaimed?: IfClaimed | undefined;
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Waits, as `Clock.sleep` does. */
export interface Sleeper {
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/**
 * One session's claim at its store, shared by its writes and its evaluation. The first user makes it and
 * the last one ends it. Those who come while it is being made share the outcome.
 */
export class SharedClaim {
  readonly #store: SessionStore;
  readonly #id: string;
  readonly #clock: Sleeper;
  #current: Promise<SessionClaim | null> | null = null;
  #users = 0;
  #released: Promise<void> = Promise.resolve();

  constructor(store: SessionStore, id: string, clock: Sleeper) {
    this.#store = store;
    this.#id = id;
    this.#clock = clock;
  }

  /** The current claim; `null` if there is none. */
  get current(): Promise<SessionClaim | null> {
    return this.#current ?? Promise.resolve(null);
  }

  /**
   * Claims the session, or shares the claim. Returns `null` if the store has no claims. Call `release`
   * once for each success.
   */
  async acquire({
    ifClaimed = "refuse",
    signal,
  }: AcquireOptions = {}): Promise<SessionClaim | null> {
    for (;;) {
      this.#users += 1;
      this.#current ??= this.#claim();
      const current = this.#current;
      try {
        return await current;
      } catch (error) {
        this.#users -= 1;
        if (this.#current === current) this.#current = null;
        if (ifClaimed === "refuse" || !isHeldError(error)) throw error;
      }
      await this.#clock.sleep(POLL_MS, signal);
    }
  }

  /** Gives a share back. The last one ends the claim. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    const current = this.#current;
    this.#current = null;
    const releaseCurrent = async () => await (await current)?.release();
    this.#released = releaseCurrent();
    await this.#released;
  }

  async #claim(): Promise<SessionClaim | null> {
    if (!this.#store.claim) return null;
    await this.#released.catch(() => {}); // the caller of release has the error
    return await this.#store.claim(this.#id);
  }
}

/** Returns whether an error means that another writer holds the session. */
export function isHeldError(error: unknown): boolean {
  return error instanceof SessionStoreError && error.owner !== null;
}

/** How long to wait before the next attempt to claim a session that another writer holds. */
const POLL_MS = 200;
