import { closeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { createFolderSync } from "../../host/create-folder.ts";
import { openPrivateFile } from "./private-file.ts";
import { explainErrors, type Statement } from "./statement.ts";
import { toDataDirError, toStorageProblem } from "./storage-problem.ts";

/**
 * The SQLite database of a local provider. Committed data survives a crash of the process.
 * Each store migrates its own tables with a list of steps such as `[CREATE_FILES, ADD_A_COLUMN]`.
 */
export class Database implements Disposable {
  readonly #sqlite: DatabaseSync;
  readonly #folder: string;
  #depth = 0;

  /** `folder` is where the file is, for errors. */
  constructor(sqlite: DatabaseSync, folder: string) {
    this.#sqlite = sqlite;
    this.#folder = folder;
  }

  /** Migrates one store's tables. `steps` is append-only, and each step runs once. */
  migrateTables(owner: string, steps: readonly string[]): void {
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

  /** Runs statements without parameters or results. */
  exec(sql: string): void {
    try {
      this.#sqlite.exec(sql);
    } catch (error) {
      throw toStorageProblem(error, this.#folder);
    }
  }

  /** Compiles a statement. Prepare it once and run it often. */
  prepare(sql: string): Statement {
    return explainErrors(this.#sqlite.prepare(sql), this.#folder);
  }

  /** Runs `work` in a transaction and rolls back if it throws. A nested call joins the outer transaction. */
  transaction<Result>(work: () => Result): Result {
    if (this.#depth > 0) return work();
    this.exec("BEGIN IMMEDIATE");
    this.#depth++;
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#sqlite.isTransaction) this.exec("ROLLBACK"); // a full disk has ended it already
      throw error;
    } finally {
      this.#depth--;
    }
  }

  /** Closes the file. Closing it twice is safe. */
  [Symbol.dispose](): void {
    if (this.#sqlite.isOpen) this.#sqlite.close();
  }
}

const refuse = InvalidOptionError.at("dataDir");

/** The version of the file format. Each store's tables have their own version. */
const FILE_VERSION = 1;

/** How long to wait for another server that is shutting down. */
const LOCK_WAIT_MS = 1000;

/** Opens `<dataDir>/local.sqlite`, creating it if needed. Only one process at a time can open it. */
export function openDatabase(dataDir: string): Database {
  const sqlite = openFile(dataDir);
  try {
    // NORMAL in WAL mode: a commit reaches the operating system before it is acknowledged, so a killed process
    // loses nothing. Only a power failure can lose the last commits.
    sqlite.exec(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON",
    );
    prepareFile(sqlite, dataDir);
    return new Database(sqlite, dataDir);
  } catch (error) {
    sqlite.close();
    if (isLocked(error)) throw createInUseError(dataDir, error);
    throw isReadOnly(error) ? createUnusableError(dataDir, error) : toDataDirError(error, dataDir);
  }
}

function openFile(dataDir: string): DatabaseSync {
  try {
    createFolderSync(dataDir, 0o700);
    const path = join(dataDir, "local.sqlite");
    closeSync(openPrivateFile(path)); // SQLite's other files get the mode of this one
    return new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
  } catch (cause) {
    throw createUnusableError(dataDir, cause);
  }
}

function createUnusableError(dataDir: string, cause: unknown): InvalidOptionError {
  const rule = `must be a folder that can be created and written to (${getErrorMessage(cause)})`;
  return refuse("", dataDir, rule, "use another folder", { cause });
}

function prepareFile(sqlite: DatabaseSync, dataDir: string): void {
  const version = Number(sqlite.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version > FILE_VERSION) throw createNewerVersionError(dataDir);
  sqlite.exec(
    `CREATE TABLE IF NOT EXISTS table_versions (owner TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
     PRAGMA user_version = ${FILE_VERSION}`,
  );
}

function isLocked(error: unknown): boolean {
  return getErrorMessage(error).includes("database is locked");
}

/** Whether the folder can be read but not written to. */
function isReadOnly(error: unknown): boolean {
  return /readonly database|unable to open database file/.test(getErrorMessage(error));
}

function createInUseError(dataDir: string, cause: unknown): InvalidOptionError {
  const remedy = "stop the other provider, or use another folder";
  return refuse("", dataDir, "must be used by one local provider at a time", remedy, { cause });
}

function createNewerVersionError(dataDir: string): InvalidOptionError {
  const rule = "must have been written by this version of weakincentives or an older one";
  return refuse("", dataDir, rule, "update weakincentives, or use another folder");
}
