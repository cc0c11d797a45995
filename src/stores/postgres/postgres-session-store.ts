import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import type {
  ClaimOptions,
  ReadOptions,
  RecordWriter,
  SessionClaim,
  SessionStore,
} from "../../session/session-store.ts";
import { checkLease, DEFAULT_LEASE_MS } from "../sql/check-lease.ts";
import { SqlSessions } from "../sql/sql-sessions.ts";
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
export class PostgresSessionStore implements SessionStore {
  readonly #tables: PostgresTables;
  readonly #sessions: SqlSessions;

  /** Creates a store. Nothing is sent until it is used. */
  constructor(options: PostgresSessionStoreOptions) {
    checkKnownKeys(options, "PostgresSessionStore", storeKeys);
    const sql = checkClient(options.sql);
    const schema = checkSchema(options.schema ?? "wink");
    const leaseMs = checkLease(options.leaseMs ?? DEFAULT_LEASE_MS, "PostgresSessionStore.leaseMs");
    this.#tables = new PostgresTables({ sql, schema, leaseMs });
    this.#sessions = new SqlSessions({
      tables: this.#tables,
      leaseMs,
      transactions: "per-session",
    });
  }

  /**
   * Creates the schema and its tables, or updates an older release's tables. Does nothing if they are up to date.
   * Several processes may call it at once.
   */
  async migrate(): Promise<void> {
    await this.#tables.migrate();
  }

  /**
   * Appends a record. Resolves when it is committed. Throws `SessionStoreError` if the writer has read an older state,
   * or a later claim was made. Records of a session that are appended in the same tick are stored by one statement.
   */
  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    await this.#sessions.append(id, record, by);
  }

  /** Yields a session's records, oldest first, in pages. Skips records appended after the start. */
  read(id: string, options?: ReadOptions): AsyncIterable<object> {
    return this.#sessions.read(id, options);
  }

  /** Returns the ids of the stored sessions, sorted. */
  async list(): Promise<string[]> {
    return await this.#sessions.list();
  }

  /** Deletes a session. Does nothing if it does not exist. Throws `SessionStoreError` while another process holds it. */
  async delete(id: string): Promise<void> {
    await this.#sessions.delete(id);
  }

  /**
   * Claims a session. Throws `SessionStoreError` with `owner` and `since` while another claim is held: until it is
   * released, its process has ended on this machine, or its lease has run out.
   */
  async claim(id: string, options?: ClaimOptions): Promise<SessionClaim> {
    return await this.#sessions.claim(id, options);
  }

  /** Returns a session's checkpoint, or `null` if it has none. */
  async readCheckpoint(id: string): Promise<object | null> {
    return await this.#sessions.readCheckpoint(id);
  }

  /** Replaces a session's checkpoint. Throws `SessionStoreError` if a later claim was made. */
  async writeCheckpoint(id: string, checkpoint: object, by?: RecordWriter): Promise<void> {
    await this.#sessions.writeCheckpoint(id, checkpoint, by);
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
