import { resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
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
import { SqliteFile } from "./sqlite-file.ts";
import { SqliteTables } from "./sqlite-tables.ts";

/** Options of a {@link SqliteSessionStore}. */
export interface SqliteSessionStoreOptions {
  /**
   * How long the claim of a process that does not answer lasts, in milliseconds. A process that has ended on this
   * machine loses its claims at once.
   * @default 15_000
   */
  readonly leaseMs?: number | undefined;
}

const storeKeys: KnownKeys<SqliteSessionStoreOptions> = { leaseMs: true };

/**
 * Stores many sessions in one SQLite database, by `node:sqlite`. A record is stored once its transaction is on disk.
 * Several stores and processes may use the file at once, on one machine. The file (0600) and new folders (0700) are
 * private to their owner, and symlinks and files of other users are refused.
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 * import { SqliteSessionStore } from "weakincentives/stores";
 *
 * const store = new SqliteSessionStore("./sessions.sqlite");
 * const session = await Session.openOrCreate(store, "nightly-review");
 * await session.close();
 * await store.close();
 * ```
 */
export class SqliteSessionStore implements SessionStore, AsyncDisposable {
  readonly #file: SqliteFile;
  readonly #sessions: SqlSessions;

  /** Creates a store. The database is created when the first session is written or claimed. */
  constructor(path: string, options: SqliteSessionStoreOptions = {}) {
    checkKnownKeys(options, "SqliteSessionStore(options)", storeKeys);
    const leaseMs = checkLease(options.leaseMs ?? DEFAULT_LEASE_MS, "SqliteSessionStore.leaseMs");
    this.#file = new SqliteFile(resolve(checkPath(path)), systemClock);
    const tables = new SqliteTables({ file: this.#file, clock: systemClock, leaseMs });
    this.#sessions = new SqlSessions({ tables, leaseMs, transactions: "shared" });
  }

  /**
   * Appends a record. Resolves when it is on disk. Throws `SessionStoreError` if the writer has read an older state,
   * or a later claim was made. Records appended in the same tick are stored in one transaction.
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
   * released, its process has ended, or its lease has run out.
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

  /** Waits for pending writes, releases the claims and closes the database. Later uses throw. */
  async close(): Promise<void> {
    try {
      await this.#sessions.close();
    } finally {
      await this.#file.close();
    }
  }

  /** Closes the store. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function checkPath(path: string): string {
  const isPath = typeof path === "string" && path !== "" && !path.includes("\0");
  if (isPath && path !== ":memory:") return path;
  throw new InvalidOptionError({
    field: "SqliteSessionStore(path)",
    value: path,
    rule: "must be the path of a file",
    remedy: 'use new SqliteSessionStore("sessions.sqlite"); the file is created when needed',
  });
}
