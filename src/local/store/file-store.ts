import { constants, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { copyFile, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../ids.ts";
import type { Database } from "./database.ts";
import { safeFileName } from "./file-name.ts";
import { IncomingFolder } from "./incoming-folder.ts";
import { type PageQuery, readRowPage } from "./paging.ts";
import { numberIn, numberOrNullIn, type Row, textIn } from "./row.ts";

/** A file that a client has uploaded. */
export interface StoredFile {
  readonly id: string;
  readonly filename: string;
  readonly bytes: number;
  readonly purpose: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** What becomes a stored file. */
export interface NewFile {
  /** Where its bytes are, whole: a place in `incoming`. They are moved. */
  readonly path: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly expiresAfterSeconds?: number | undefined;
}

/** What a file store is made of. */
export interface FileStoreOptions {
  readonly database: Database;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Of one upload. @default 512 MiB */
  readonly maxFileBytes?: number | undefined;
}

/** OpenAI's limit of one file. */
const MAX_FILE_BYTES = 512 * 2 ** 20;

const DAY_SECONDS = 24 * 60 * 60;

/** How long the places of deleted files in the list are known. */
const DELETED_KEPT_SECONDS = DAY_SECONDS;

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

/** Keeps uploaded files: their bytes in a folder, under their ids; all else in the database. */
export class FileStore {
  /** Where uploads arrive. */
  readonly incoming: IncomingFolder;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #database: Database;
  readonly #insert;
  readonly #get;
  readonly #delete;
  readonly #expired;

  constructor({ database, dataDir, clock, ids, maxFileBytes = MAX_FILE_BYTES }: FileStoreOptions) {
    database.tables("files", TABLES);
    this.incoming = new IncomingFolder({ dataDir, ids, maxFileBytes });
    this.#folder = join(dataDir, "files");
    this.#clock = clock;
    this.#ids = ids;
    this.#database = database;
    this.#insert = database.prepare(
      "INSERT INTO files (id, filename, bytes, purpose, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#get = database.prepare("SELECT * FROM files WHERE id = ? AND deleted = 0");
    this.#delete = database.prepare("UPDATE files SET deleted = 1 WHERE id = ? AND deleted = 0");
    this.#expired = database.prepare("SELECT id FROM files WHERE deleted = 0 AND expires_at <= ?");
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    database
      .prepare("DELETE FROM files WHERE deleted = 1 AND created_at < ?")
      .run(this.#seconds() - DELETED_KEPT_SECONDS);
    this.#removeExpired();
    this.#removeUnknown();
  }

  /** Acknowledged once it returns: the bytes are in their place, and then the file is known. */
  add({ path, bytes, filename, purpose, expiresAfterSeconds }: NewFile): StoredFile {
    this.#removeExpired();
    const id = this.#ids.next("file-");
    const createdAt = this.#seconds();
    const expiresAt = expiresAfterSeconds === undefined ? null : createdAt + expiresAfterSeconds;
    const name = safeFileName(filename);
    renameSync(path, this.#pathOf(id));
    this.#insert.run(id, name, bytes, purpose, createdAt, expiresAt);
    return { id, filename: name, bytes, purpose, createdAt, expiresAt };
  }

  /** `undefined` if there is none, or no more. */
  get(id: string): StoredFile | undefined {
    this.#removeExpired();
    const row = this.#get.get(id);
    return row && toFile(row);
  }

  /** Those of one purpose, or all. */
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
    return { files: rows.map(toFile), hasMore };
  }

  /** Its bytes, for who closes the handle. The file must be one that `get` gave. */
  open(id: string): Promise<FileHandle> {
    return open(this.#pathOf(id), "r");
  }

  /** A copy of its bytes, at a path where nothing is. */
  async copy(id: string, to: string): Promise<void> {
    await copyFile(this.#pathOf(id), to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }

  /** Whether there was one. */
  delete(id: string): boolean {
    if (this.#delete.run(id).changes === 0) return false;
    rmSync(this.#pathOf(id), { force: true });
    return true;
  }

  #pathOf(id: string): string {
    return join(this.#folder, id);
  }

  #removeExpired(): void {
    for (const row of this.#expired.all(this.#seconds())) this.delete(textIn(row, "id"));
  }

  /** A process that was killed may leave bytes that nothing knows. */
  #removeUnknown(): void {
    for (const name of readdirSync(this.#folder)) {
      if (!this.#get.get(name)) rmSync(this.#pathOf(name), { recursive: true, force: true });
    }
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function toFile(row: Row): StoredFile {
  return {
    id: textIn(row, "id"),
    filename: textIn(row, "filename"),
    bytes: numberIn(row, "bytes"),
    purpose: textIn(row, "purpose"),
    createdAt: numberIn(row, "created_at"),
    expiresAt: numberOrNullIn(row, "expires_at"),
  };
}
