import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock } from "../../base/clock.ts";
import { createFolder } from "../../host/create-folder.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { checkTables, createTables } from "./create-tables.ts";
import { checkDatabaseFiles, createDatabaseFile, identifyFile } from "./database-files.ts";
import { isBusy, toSqliteError } from "./sqlite-errors.ts";

/** Compiles statements, each once. */
export type Prepare = (sql: string) => StatementSync;

/**
 * A SQLite database, opened when it is first used. Several connections and processes may use the file. Waiting for them
 * does not block this process.
 */
export class SqliteFile {
  readonly #path: string;
  readonly #clock: Clock;
  #opening: Promise<OpenDatabase> | null = null;
  #isClosed = false;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Runs `work`. Returns `missing` if there is no file. */
  async read<Result, Missing>(
    work: (prepare: Prepare) => Result,
    missing: Missing,
  ): Promise<Result | Missing> {
    if (!this.#opening && identifyFile(this.#path) === null) return missing;
    return await this.#use(({ prepare }) => work(prepare));
  }

  /** Runs `work` in a transaction, and rolls back if it throws. Creates the file if needed. */
  async write<Result>(work: (prepare: Prepare) => Result): Promise<Result> {
    return await this.#use(({ sqlite, prepare }) => {
      sqlite.exec("BEGIN IMMEDIATE");
      try {
        const result = work(prepare);
        sqlite.exec("COMMIT");
        return result;
      } catch (error) {
        if (sqlite.isTransaction) sqlite.exec("ROLLBACK"); // a full disk has ended it already
        throw error;
      }
    });
  }

  /** Closes the file. Later uses throw. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = await this.#opening?.catch(() => null); // its caller has the error
    if (opened?.sqlite.isOpen) opened.sqlite.close();
  }

  async #use<Result>(work: (opened: OpenDatabase) => Result): Promise<Result> {
    if (this.#isClosed) throw createClosedError(this.#path);
    const opening = this.#opening ?? this.#retry(() => openDatabase(this.#path));
    this.#opening = opening;
    try {
      const opened = await opening;
      return await this.#retry(() => {
        if (this.#isClosed) throw createClosedError(this.#path);
        if (identifyFile(this.#path) !== opened.identity) throw createReplacedError(this.#path);
        return work(opened);
      });
    } catch (error) {
      await opening.catch(() => {
        if (this.#opening === opening) this.#opening = null; // the next use tries again
      });
      throw toSqliteError(error, this.#path);
    }
  }

  /** Repeats `work` while another connection has locked the database. */
  async #retry<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    for (let waited = 0; ; waited += RETRY_MS) {
      try {
        return await work();
      } catch (error) {
        if (!isBusy(error) || waited >= MAX_WAIT_MS) throw error;
      }
      await this.#clock.sleep(RETRY_MS);
    }
  }
}

interface OpenDatabase {
  readonly sqlite: DatabaseSync;
  readonly prepare: Prepare;
  /** The file that was opened. */
  readonly identity: string | null;
}

const RETRY_MS = 10;
const MAX_WAIT_MS = 10_000;

async function openDatabase(path: string): Promise<OpenDatabase> {
  const { DatabaseSync } = loadSqlite();
  await createFolder(dirname(path), 0o700);
  await checkDatabaseFiles(path);
  createDatabaseFile(path);
  const sqlite = new DatabaseSync(path, { timeout: RETRY_MS });
  try {
    checkTables(sqlite);
    // FULL: a commit is on disk before it is acknowledged.
    sqlite.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    createTables(sqlite);
    await checkDatabaseFiles(path); // others may have just created one
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return { sqlite, prepare: createPrepare(sqlite), identity: identifyFile(path) };
}

function createPrepare(sqlite: DatabaseSync): Prepare {
  const statements = new Map<string, StatementSync>();
  return (sql) => {
    const statement = statements.get(sql) ?? sqlite.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}

function loadSqlite(): typeof import("node:sqlite") {
  const module = process.getBuiltinModule("node:sqlite");
  if (module) return module;
  const remedy = "Use Node 22.19 or later, or a JsonlSessionStore.";
  throw new SessionStoreError(`This runtime has no node:sqlite. ${remedy}`);
}

function createClosedError(path: string): SessionStoreError {
  return new SessionStoreError(`The store of ${path} is closed. Create a new SqliteSessionStore.`);
}

function createReplacedError(path: string): SessionStoreError {
  const what = `The database ${path} was deleted or replaced while it was open`;
  return new SessionStoreError(
    `${what}. Create a new SqliteSessionStore, and open the session again.`,
  );
}
