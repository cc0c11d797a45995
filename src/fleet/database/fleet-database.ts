import type { SqlClient, SqlResult } from "../../stores/postgres/sql-client.ts";

/**
 * The database of a fleet: PostgreSQL, or PGlite in a folder. Errors of statements are the client's own, with their
 * SQLSTATE in `code`. 64-bit integers are text on both.
 */
export interface FleetDatabase extends SqlClient, AsyncDisposable {
  /** Whether other processes can use the database at the same time. */
  readonly isShared: boolean;
  /**
   * Runs statements without parameters, separated by semicolons. Returns the rows of all of them. If one fails, a
   * transaction that the script has opened is rolled back.
   */
  runScript(text: string): Promise<SqlResult>;
  /**
   * Runs `work` in a transaction: everything it does is committed, or nothing if it throws. Use only the client that
   * `work` receives until it returns: with one connection, the others wait for it. If `work` ignores the error of a
   * statement, nothing is stored either, and the transaction fails with `FleetError`.
   */
  transact<Result>(work: (sql: SqlClient) => Promise<Result>): Promise<Result>;
  /**
   * Opens a connection that stays the same, for notifications and locks. Returns `null` if there is none: a pooler in
   * transaction mode does not provide it.
   */
  connect(): Promise<FleetConnection | null>;
  /** Closes all connections that the database has opened. A pool that the caller passed stays open. */
  close(): Promise<void>;
}

/**
 * One connection to the database. Locks and subscriptions last as long as it does; in a folder, which no other process
 * uses, locks last until the database is closed.
 */
export interface FleetConnection extends SqlClient {
  /** Resolves when the connection is lost or closed. Never rejects. */
  readonly ended: Promise<void>;
  /** Calls `onMessage` with the payload of every notification on a channel. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<void>;
  /** Closes the connection. */
  close(): Promise<void>;
}
