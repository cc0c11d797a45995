import type { SqlClient, SqlResult } from "../../stores/postgres/sql-client.ts";
import type { FleetConnection } from "./fleet-database.ts";
import type { PostgresClientEvents } from "./postgres-pool.ts";
import { quoteChannel } from "./quote-channel.ts";

/** A dedicated connection to PostgreSQL. It closes itself when it is lost. */
export class PostgresConnection implements FleetConnection {
  readonly ended: Promise<void>;
  readonly #client: PostgresClientEvents & SqlClient;
  readonly #endClient: () => Promise<void>;
  readonly #resolveEnded: () => void;
  #closing: Promise<void> | null = null;

  constructor(client: PostgresClientEvents & SqlClient, endClient: () => Promise<void>) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#client = client;
    this.#endClient = endClient;
    client.on("error", () => void this.close()); // without a listener, it would end the process
    client.on("end", () => void this.close());
  }

  async query(text: string, params?: unknown[]): Promise<SqlResult> {
    return await this.#client.query(text, params);
  }

  async listen(channel: string, onMessage: (payload: string) => void): Promise<void> {
    const name = quoteChannel(channel);
    this.#client.on("notification", (message) => {
      if (message.channel === channel) onMessage(message.payload ?? "");
    });
    await this.#client.query(`listen ${name}`);
  }

  close(): Promise<void> {
    this.#resolveEnded();
    this.#closing ??= this.#endClient().catch(() => {}); // it is lost already
    return this.#closing;
  }
}
