import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { checkLease, DEFAULT_LEASE_MS } from "../sql/check-lease.ts";
import { SqlSessionStore } from "../sql/sql-session-store.ts";
import { PostgresTables } from "./postgres-tables.ts";
import type { SqlClient } from "./sql-client.ts";

/** Options of a {@link PostgresSessionStore}. */
export interface PostgresSessionStoreOptions {
  /** The connection: `Pool` or `Client` of the package pg, PGlite, or any object with `query()`. You close it. */
  readonly sql: SqlClient;
  /** Schema of the tables: 1 to 63 letters, digits and `_`, not starting with a digit. @default "wink" */
  readonly schema?: string | undefined;
  /**
   * How long the claim of a process that does not answer lasts, in milliseconds, by the clock of the database. A
   * process that has ended on the same machine loses its claims at once.
   * @default 15_000
   */
  readonly leaseMs?: number | undefined;
}

const storeKeys: KnownKeys<PostgresSessionStoreOptions> = {
  leaseMs: true,
  schema: true,
  sql: true,
};

/**
 * Stores sessions in PostgreSQL, for processes on many machines. A record is stored once its transaction is committed.
 * Every operation is one statement, so poolers in transaction mode work too. The store does not close the connection.
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 * import { PostgresSessionStore, type SqlClient } from "weakincentives/stores";
 *
 * declare const pool: SqlClient; // new Pool({ connectionString: process.env.DATABASE_URL }) of the package pg
 * const store = new PostgresSessionStore({ sql: pool });
 * await store.migrate(); // once per release
 * const session = await Session.openOrCreate(store, "nightly-review");
 * ```
 */
export class PostgresSessionStore extends SqlSessionStore implements SessionStore {
  readonly #tables: PostgresTables;

  /** Creates a store. Nothing is sent until it is used. */
  constructor(options: PostgresSessionStoreOptions) {
    checkKnownKeys(options, "PostgresSessionStore", storeKeys);
    const sql = checkClient(options.sql);
    const schema = checkSchema(options.schema ?? "wink");
    const leaseMs = checkLease(options.leaseMs ?? DEFAULT_LEASE_MS, "PostgresSessionStore.leaseMs");
    const tables = new PostgresTables({ sql, schema, leaseMs });
    super({ tables, leaseMs, transactions: "per-session" });
    this.#tables = tables;
  }

  /**
   * Creates the schema and its tables, or updates an older release's tables. Does nothing if they are up to date.
   * Several processes may call it at once.
   */
  async migrate(): Promise<void> {
    await this.#tables.migrate();
  }
}

const refuse = InvalidOptionError.at("PostgresSessionStore");

function checkClient(sql: SqlClient): SqlClient {
  if (typeof sql?.query === "function") return sql;
  const remedy = "pass a Pool or Client of the package pg, or a PGlite";
  throw refuse("sql", sql, "must be an object with query()", remedy, { secret: true });
}

function checkSchema(schema: string): string {
  if (typeof schema === "string" && /^[A-Za-z_]\w{0,62}$/.test(schema)) return schema;
  const rule = "must be 1-63 letters, digits and _, not starting with a digit";
  throw refuse("schema", schema, rule, 'omit it for "wink"');
}
