import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { preparePrivateFolder } from "../../files/kept/private-folder.ts";
import type { SqlClient, SqlResult } from "../../stores/postgres/sql-client.ts";
import { FleetError } from "../fleet-error.ts";
import type { FleetConnection, FleetDatabase } from "./fleet-database.ts";
import { FolderConnection } from "./folder-connection.ts";
import { type FolderLock, lockDatabaseFolder } from "./lock-database-folder.ts";
import { loadPglite, openPglite, type PgliteInstance, type PgliteModule } from "./open-pglite.ts";
import { runTransaction } from "./run-transaction.ts";

/**
 * Opens a database in a folder, with PGlite, and creates it if it is missing. Only one process can use it at a time, and
 * statements run one after another. Imports the package @electric-sql/pglite.
 */
export async function openFolderDatabase(
  folder: string,
  load?: () => Promise<PgliteModule>,
): Promise<FleetDatabase> {
  const path = resolve(checkFolder(folder));
  const module = await loadPglite(load);
  await preparePrivateFolder(path);
  const lock = await lockDatabaseFolder(path);
  try {
    return new FolderDatabase(await openPglite(module, path), lock);
  } catch (error) {
    await lock.release();
    throw await toOpeningError(error, path);
  }
}

class FolderDatabase implements FleetDatabase {
  readonly isShared = false;
  readonly #pglite: PgliteInstance;
  readonly #lock: FolderLock;
  readonly #connections = new Set<FleetConnection>();
  #closing: Promise<void> | null = null;

  constructor(pglite: PgliteInstance, lock: FolderLock) {
    this.#pglite = pglite;
    this.#lock = lock;
  }

  async query(text: string, params?: unknown[]): Promise<SqlResult> {
    return await this.#pglite.query(text, params);
  }

  async runScript(text: string): Promise<SqlResult> {
    // PGlite rolls back a transaction before the next statement may run. The script must be outside of one, like on
    // PostgreSQL, where some statements require it; hence the COMMIT before it.
    const results = await this.#pglite.transaction(async (transaction) => {
      await transaction.exec("commit");
      return await transaction.exec(text);
    });
    return { rows: results.flatMap(({ rows }) => rows) };
  }

  async transact<Result>(work: (sql: SqlClient) => Promise<Result>): Promise<Result> {
    return await this.#pglite.transaction((transaction) => runTransaction(transaction, work));
  }

  async connect(): Promise<FleetConnection> {
    const connection = new FolderConnection(this.#pglite);
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
    for (const connection of this.#connections) await connection.close();
    try {
      await this.#pglite.close();
    } finally {
      await this.#lock.release();
    }
  }
}

function checkFolder(folder: string): string {
  if (typeof folder === "string" && folder !== "") return folder;
  const refuse = InvalidOptionError.at("Fleet.open(options)");
  throw refuse("folder", folder, "must be the path of a folder", 'use ".wink/fleet"');
}

/** PGlite reports files of another major version like any other damage, so the error names their version. */
async function toOpeningError(cause: unknown, folder: string): Promise<FleetError> {
  const version = await readFile(join(folder, "data", "PG_VERSION"), "utf8").catch(() => "");
  const files = version === "" ? "" : ` Its files are of PostgreSQL ${version.trim()}.`;
  return new FleetError(
    `PGlite cannot open ${folder}: ${getErrorMessage(cause)}.${files} ` +
      "Install the version of @electric-sql/pglite that wrote them, or use another folder.",
    { cause },
  );
}
