import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { InvalidOptionError, messageOf } from "../../base/errors.ts";

/**
 * The one SQLite file of a local provider. What is committed outlives the process, however that ends.
 * Each store brings its own tables: `database.tables("files", [CREATE_FILES, ADD_A_COLUMN])`.
 */
export class Database implements Disposable {
  readonly #sqlite: DatabaseSync;
  #depth = 0;

  constructor(sqlite: DatabaseSync) {
    this.#sqlite = sqlite;
  }

  /** Brings one store's tables up to date: `steps` are only ever added to, and each runs once. */
  tables(owner: string, steps: readonly string[]): void {
    this.transaction(() => {
      const row = this.prepare("SELECT version FROM table_versions WHERE owner = ?").get(owner);
      const version = Number(row?.["version"] ?? 0);
      for (const step of steps.slice(version)) this.exec(step);
      this.prepare("INSERT OR REPLACE INTO table_versions (owner, version) VALUES (?, ?)").run(
        owner,
        Math.max(version, steps.length),
      );
    });
  }

  /** Runs statements that take nothing and give nothing. */
  exec(sql: string): void {
    this.#sqlite.exec(sql);
  }

  /** Prepare once, run often. */
  prepare(sql: string): StatementSync {
    return this.#sqlite.prepare(sql);
  }

  /** All of `work` is kept, or nothing of it if it throws. Inside another one it is part of that. */
  transaction<Result>(work: () => Result): Result {
    if (this.#depth > 0) return work();
    this.exec("BEGIN IMMEDIATE");
    this.#depth++;
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      this.exec("ROLLBACK");
      throw error;
    } finally {
      this.#depth--;
    }
  }

  /** Closes the file; doing so twice is fine. */
  [Symbol.dispose](): void {
    if (this.#sqlite.isOpen) this.#sqlite.close();
  }
}

const refuse = InvalidOptionError.at("dataDir");

/** Of the file as a whole; the tables in it have their own. */
const FILE_VERSION = 1;

/** How long to wait for a server that is just ending. */
const LOCK_WAIT_MS = 1000;

/** Opens `<dataDir>/local.sqlite`, made if it is not there. One process at a time has it. */
export function openDatabase(dataDir: string): Database {
  makeFolder(dataDir);
  const sqlite = new DatabaseSync(join(dataDir, "local.sqlite"), { timeout: LOCK_WAIT_MS });
  try {
    // NORMAL in WAL mode: a commit is with the system before it is acknowledged, so a killed process
    // loses nothing; only a power cut may take the last ones.
    sqlite.exec(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON",
    );
    prepareFile(sqlite, dataDir);
    return new Database(sqlite);
  } catch (error) {
    sqlite.close();
    throw isLocked(error) ? inUse(dataDir, error) : error;
  }
}

function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const rule = `must be a folder that can be made or written to (${messageOf(cause)})`;
    throw refuse("", dataDir, rule, "give another", { cause });
  }
}

function prepareFile(sqlite: DatabaseSync, dataDir: string): void {
  const version = Number(sqlite.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version > FILE_VERSION) throw fromTheFuture(dataDir);
  sqlite.exec(
    `CREATE TABLE IF NOT EXISTS table_versions (owner TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
     PRAGMA user_version = ${FILE_VERSION}`,
  );
}

function isLocked(error: unknown): boolean {
  return messageOf(error).includes("database is locked");
}

function inUse(dataDir: string, cause: unknown): InvalidOptionError {
  const remedy = "end the one that has it, or give this one a folder of its own";
  return refuse("", dataDir, "must be used by one local provider at a time", remedy, { cause });
}

function fromTheFuture(dataDir: string): InvalidOptionError {
  const rule = "must have been written by this version of weakincentives or an older one";
  return refuse("", dataDir, rule, "update weakincentives, or give it another folder");
}
