import type { SessionClaim } from "../../session/session-store.ts";
import type { MadeClaim, SessionTables } from "./session-tables.ts";

/** Options of a {@link LeasedClaim}. */
export interface LeasedClaimOptions extends MadeClaim {
  readonly id: string;
  readonly owner: string;
  readonly tables: Pick<SessionTables, "renew" | "release">;
  readonly leaseMs: number;
}

/** A claim whose lease is extended by a timer until it is released, lost, or the process ends. */
export class LeasedClaim implements SessionClaim {
  readonly fence: number;
  readonly owner: string;
  readonly since: string;
  readonly records: number;
  readonly #id: string;
  readonly #tables: Pick<SessionTables, "renew" | "release">;
  readonly #timer: NodeJS.Timeout;
  #isRenewing = false;
  #isReleased = false;

  constructor({ id, owner, tables, leaseMs, fence, since, records }: LeasedClaimOptions) {
    this.fence = fence;
    this.owner = owner;
    this.since = since;
    this.records = records;
    this.#id = id;
    this.#tables = tables;
    this.#timer = setInterval(() => void this.#renew(), leaseMs / 3);
    this.#timer.unref();
  }

  /** Ends the claim. Does nothing if it has ended. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearInterval(this.#timer);
    await this.#tables.release(this.#id, this.fence);
  }

  /** Never rejects: if the lease cannot be extended, the next append finds out who has the session. */
  async #renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      if (!(await this.#tables.renew(this.#id, this.fence))) clearInterval(this.#timer);
    } catch {
      // the timer tries again
    } finally {
      this.#isRenewing = false;
    }
  }
}
