import { resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { checkLease, DEFAULT_LEASE_MS } from "../sql/check-lease.ts";
import { SqlSessionStore } from "../sql/sql-session-store.ts";
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
export class SqliteSessionStore extends SqlSessionStore implements SessionStore, AsyncDisposable {
  readonly #file: SqliteFile;

  /** Creates a store. The database is created when the first session is written or claimed. */
  constructor(path: string, options: SqliteSessionStoreOptions = {}) {
    checkKnownKeys(options, "SqliteSessionStore(options)", storeKeys);
    const leaseMs = checkLease(options.leaseMs ?? DEFAULT_LEASE_MS, "SqliteSessionStore.leaseMs");
    const file = new SqliteFile(resolve(checkPath(path)), systemClock);
    const tables = new SqliteTables({ file, clock: systemClock, leaseMs });
    super({ tables, leaseMs, transactions: "shared" });
    this.#file = file;
  }

  /** Waits for pending writes, releases the claims and closes the database. Later uses throw. */
  async close(): Promise<void> {
    try {
      await this.endClaims();
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
