import { constants, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { copyFile, type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../ids.ts";
import { chooseMaxStoredBytes } from "./choose-max-stored-bytes.ts";
import type { Database } from "./database.ts";
import { IncomingFolder } from "./incoming-folder.ts";
import { type PageQuery, readRowPage } from "./paging.ts";
import { type Row, readNullableNumber, readNumberColumn, readTextColumn } from "./row.ts";
import { safeFileName } from "./safe-file-name.ts";
import { explainStorage } from "./storage-problem.ts";
import { StorageQuota } from "./storage-quota.ts";

/** The record of an uploaded file. */
export interface StoredFile {
  readonly id: string;
  readonly filename: string;
  readonly bytes: number;
  readonly purpose: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** Seconds since 1970, or `null` if the file does not expire. */
  readonly expiresAt: number | null;
}

/** A file to store. */
export interface NewFile {
  /** The path of the complete file in the `incoming` folder. The file is moved from there. */
  readonly path: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly expiresAfterSeconds?: number | undefined;
}

/** Options of a {@link FileStore}. */
export interface FileStoreOptions {
  readonly database: Database;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The maximum size of one upload. @default 512 MiB */
  readonly maxFileBytes?: number | undefined;
  /** The maximum size of all files, including those in containers. @default {@link chooseMaxStoredBytes} */
  readonly maxStoredBytes?: number | undefined;
}

/** OpenAI's limit for one file. */
const MAX_FILE_BYTES = 512 * 2 ** 20;

const DAY_SECONDS = 24 * 60 * 60;

/** How long the ids of deleted files stay valid as cursors. */
const DELETED_RETENTION_SECONDS = DAY_SECONDS;

const TABLES = [
  `CREATE TABLE files (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     filename TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     purpose TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     deleted INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE INDEX files_expiry ON files (expires_at) WHERE deleted = 0 AND expires_at IS NOT NULL`,
];

/** Stores uploaded files: the bytes in a folder, named by id, and the records in the database. */
export class FileStore {
  /** The folder that receives uploads. */
  readonly incoming: IncomingFolder;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #database: Database;
  readonly #quota: StorageQuota;
  readonly #insert;
  readonly #get;
  readonly #delete;
  readonly #expired;

  constructor(options: FileStoreOptions) {
    const { database, dataDir, clock, ids, maxFileBytes = MAX_FILE_BYTES } = options;
    database.migrateTables("files", TABLES);
    this.incoming = new IncomingFolder({ dataDir, ids, maxFileBytes });
    this.#folder = join(dataDir, "files");
    this.#clock = clock;
    this.#ids = ids;
    this.#database = database;
    this.#quota = new StorageQuota(
      database,
      (stored) => options.maxStoredBytes ?? chooseMaxStoredBytes(dataDir, stored),
    );
    this.#insert = database.prepare(
      "INSERT INTO files (id, filename, bytes, purpose, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#get = database.prepare("SELECT * FROM files WHERE id = ? AND deleted = 0");
    this.#delete = database.prepare("UPDATE files SET deleted = 1 WHERE id = ? AND deleted = 0");
    this.#expired = database.prepare("SELECT id FROM files WHERE deleted = 0 AND expires_at <= ?");
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    database
      .prepare("DELETE FROM files WHERE deleted = 1 AND created_at < ?")
      .run(this.#nowSeconds() - DELETED_RETENTION_SECONDS);
    this.#removeExpired();
    this.#removeOrphans();
  }

  /**
   * Stores a file. The bytes are moved first and the record is written last, so a crash leaves no broken
   * record.
   */
  add({ path, bytes, filename, purpose, expiresAfterSeconds }: NewFile): StoredFile {
    this.#removeExpired();
    this.checkSpace(bytes);
    const id = this.#ids.next("file-");
    const createdAt = this.#nowSeconds();
    const expiresAt = expiresAfterSeconds === undefined ? null : createdAt + expiresAfterSeconds;
    const name = safeFileName(filename);
    renameSync(path, this.#toPath(id));
    this.#insert.run(id, name, bytes, purpose, createdAt, expiresAt);
    return { id, filename: name, bytes, purpose, createdAt, expiresAt };
  }

  /** Returns `undefined` if the file does not exist, was deleted or has expired. */
  get(id: string): StoredFile | undefined {
    this.#removeExpired();
    const row = this.#get.get(id);
    return row && toStoredFile(row);
  }

  /** Returns one page of files, optionally those with one purpose. */
  list(
    query: PageQuery,
    purpose?: string,
  ): { readonly files: readonly StoredFile[]; readonly hasMore: boolean } {
    this.#removeExpired();
    const scope =
      purpose === undefined
        ? { table: "files", where: "deleted = 0", values: [] }
        : { table: "files", where: "deleted = 0 AND purpose = ?", values: [purpose] };
    const { rows, hasMore } = readRowPage(this.#database, scope, query);
    return { files: rows.map(toStoredFile), hasMore };
  }

  /** Throws if files and containers together have no space for so many more bytes. */
  checkSpace(bytes: number): void {
    this.#quota.check(bytes);
  }

  /** Opens a file that `get` returned. The caller closes the handle. */
  open(id: string): Promise<FileHandle> {
    return open(this.#toPath(id), "r");
  }

  /** Copies a file to a path that must not exist yet. */
  async copy(id: string, to: string): Promise<void> {
    const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    await explainStorage(dirname(to), () => copyFile(this.#toPath(id), to, flags));
  }

  /** Deletes a file. Returns `false` if it does not exist. */
  delete(id: string): boolean {
    if (this.#delete.run(id).changes === 0) return false;
    rmSync(this.#toPath(id), { force: true });
    return true;
  }

  #toPath(id: string): string {
    return join(this.#folder, id);
  }

  #removeExpired(): void {
    for (const row of this.#expired.all(this.#nowSeconds())) this.delete(readTextColumn(row, "id"));
  }

  /** Deletes files without a record. A killed process may have left them. */
  #removeOrphans(): void {
    for (const name of readdirSync(this.#folder)) {
      if (!this.#get.get(name)) rmSync(this.#toPath(name), { recursive: true, force: true });
    }
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function toStoredFile(row: Row): StoredFile {
  return {
    id: readTextColumn(row, "id"),
    filename: readTextColumn(row, "filename"),
    bytes: readNumberColumn(row, "bytes"),
    purpose: readTextColumn(row, "purpose"),
    createdAt: readNumberColumn(row, "created_at"),
    expiresAt: readNullableNumber(row, "expires_at"),
  };
}
