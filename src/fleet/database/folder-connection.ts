import type { SqlResult } from "../../stores/postgres/sql-client.ts";
import type { FleetConnection } from "./fleet-database.ts";
import type { PgliteInstance } from "./open-pglite.ts";
import { quoteChannel } from "./quote-channel.ts";

/** A view of PGlite's only connection. Locks last until the database is closed; subscriptions end with the view. */
export class FolderConnection implements FleetConnection {
  readonly ended: Promise<void>;
  readonly #pglite: PgliteInstance;
  readonly #resolveEnded: () => void;
  readonly #subscriptions: (() => void)[] = [];

  constructor(pglite: PgliteInstance) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#pglite = pglite;
  }

  async query(text: string, params?: unknown[]): Promise<SqlResult> {
    return await this.#pglite.query(text, params);
  }

  async listen(channel: string, onMessage: (payload: string) => void): Promise<void> {
    const name = quoteChannel(channel);
    const unsubscribe = this.#pglite.onNotification((from, payload) => {
      if (from === channel) onMessage(payload);
    });
    this.#subscriptions.push(unsubscribe);
    await this.#pglite.exec(`listen ${name}`);
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#subscriptions.splice(0)) unsubscribe();
    this.#resolveEnded();
  }
}
