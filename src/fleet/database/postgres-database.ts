import type { SqlClient, SqlResult } from "../../stores/postgres/sql-client.ts";
import { FleetError } from "../fleet-error.ts";
import type { FleetConnection, FleetDatabase } from "./fleet-database.ts";
import type { PgModule } from "./load-pg.ts";
import type { PostgresPoolClient } from "./postgres-pool.ts";
import {
  createPostgresSource,
  type PostgresDatabaseOptions,
  type PostgresSource,
} from "./postgres-source.ts";
import { runTransaction } from "./run-transaction.ts";
import { toConnectionError } from "./to-connection-error.ts";

/**
 * Opens a PostgreSQL database and checks that it answers. Imports the package pg if one of the options is a URL.
 * Errors of statements are the client's own, with their SQLSTATE in `code`.
 */
export async function openPostgresDatabase(
  options: PostgresDatabaseOptions,
  load?: () => Promise<PgModule>,
): Promise<FleetDatabase> {
  const source = await createPostgresSource(options, load);
  const database = new PostgresDatabase(source);
  try {
    await database.query("select 1");
  } catch (error) {
    await database.close();
    throw toConnectionError(error, source.label);
  }
  return database;
}

class PostgresDatabase implements FleetDatabase {
  readonly isShared = true;
  readonly #source: PostgresSource;
  readonly #connections = new Set<FleetConnection>();
  /** Clients with a listener for errors: without one, the loss of a client in use would end the process. */
  readonly #guarded = new WeakSet<PostgresPoolClient>();
  /** Statements and transactions in progress. */
  readonly #pending = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;

  constructor(source: PostgresSource) {
    this.#source = source;
    source.pool.on?.("error", ignoreLoss);
  }

  async query(text: string, params?: unknown[]): Promise<SqlResult> {
    return await this.#track(async () => await this.#source.pool.query(text, params));
  }

  async runScript(text: string): Promise<SqlResult> {
    return await this.#useClient(async (client) => {
      const results = toList(await client.query(text));
      return { rows: results.flatMap(({ rows }) => rows) };
    });
  }

  async transact<Result>(work: (sql: SqlClient) => Promise<Result>): Promise<Result> {
    return await this.#useClient(async (client) => {
      await client.query("begin");
      const result = await runTransaction(client, work);
      await client.query("commit");
      return result;
    });
  }

  async connect(): Promise<FleetConnection | null> {
    const { connect } = this.#source;
    if (!connect) return null;
    const connection = await connect();
    this.#connections.add(connection);
    void connection.ended.then(() => this.#connections.delete(connection));
    if (this.#closing) await connection.close();
    return connection;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.close()));
    await Promise.allSettled(this.#pending); // a pool that ends forgets those that wait for a connection
    await this.#source.endPool();
    this.#source.pool.off?.("error", ignoreLoss);
  }

  /** Does some work, which `close` waits for. */
  async #track<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closing) throw new FleetError(CLOSED);
    const pending = work();
    this.#pending.add(pending);
    try {
      return await pending;
    } finally {
      this.#pending.delete(pending);
    }
  }

  /** Lends a client of the pool to `work`. If it throws, its open transaction is rolled back. */
  async #useClient<Result>(work: (client: PostgresPoolClient) => Promise<Result>): Promise<Result> {
    return await this.#track(() => this.#lendClient(work));
  }

  async #lendClient<Result>(
    work: (client: PostgresPoolClient) => Promise<Result>,
  ): Promise<Result> {
    const client = await this.#source.pool.connect();
    if (!this.#guarded.has(client)) client.on("error", ignoreLoss);
    this.#guarded.add(client);
    let isUsable = true;
    try {
      return await work(client);
    } catch (error) {
      isUsable = await tryRollback(client);
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }
}

const CLOSED = "The fleet's database is closed. Open the fleet again.";

/** The pool replaces lost connections, and the statements on them report the loss. */
function ignoreLoss(): void {}

async function tryRollback(client: SqlClient): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    return false;
  }
}

/** Several statements in one text have several results, which the client's type does not show. */
function toList(result: SqlResult | readonly SqlResult[]): readonly SqlResult[] {
  return "rows" in result ? [result] : result;
}
