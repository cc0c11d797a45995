import type { Ids } from "../ids.ts";
import type { Database } from "./database.ts";
import { type PageQuery, readRowPage } from "./paging.ts";
import { type Row, readNumberColumn, readTextColumn } from "./row.ts";

/** The record of a file in a container. Its bytes are in the container's folder. */
export interface StoredContainerFile {
  readonly id: string;
  readonly containerId: string;
  /** The path below `/mnt/data`: `"sub/x.txt"`. */
  readonly name: string;
  readonly bytes: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly source: "user" | "assistant";
  /** Changes whenever the bytes change. */
  readonly stamp: string;
}

/** A file found in a container's folder. */
export interface FoundFile {
  readonly name: string;
  readonly bytes: number;
  readonly stamp: string;
}

/** The files found in one container's folder by one scan. */
export interface FolderContents {
  readonly files: readonly FoundFile[];
  /** The scan stopped early: files missing from the list may still exist. */
  readonly isPartial: boolean;
  /** The store's mark before the scan. Files recorded after it are newer than the scan. */
  readonly since: number;
}

/** A file to record, with its container, source and time. */
export interface NewContainerFile extends FoundFile {
  readonly containerId: string;
  readonly source: "user" | "assistant";
  /** Seconds since 1970. */
  readonly at: number;
}

const TABLES = [
  `CREATE TABLE container_files (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     container_id TEXT NOT NULL,
     name TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     source TEXT NOT NULL,
     stamp TEXT NOT NULL,
     change INTEGER NOT NULL,
     deleted INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE UNIQUE INDEX container_file_names ON container_files (container_id, name) WHERE deleted = 0;
   CREATE INDEX container_file_changes ON container_files (container_id, change)`,
  `CREATE TABLE container_inputs (
     container_id TEXT NOT NULL,
     key TEXT NOT NULL,
     PRIMARY KEY (container_id, key)
   ) STRICT, WITHOUT ROWID`,
];

/** The contents of folders with more files than this are not cached: every scan is compared with the database. */
const MAX_CACHED_FILES = 100;

/** Stores which files each container has, so that a file keeps its id across requests. */
export class ContainerFileStore {
  readonly #database: Database;
  readonly #ids: Ids;
  readonly #insert;
  readonly #update;
  readonly #replace;
  readonly #delete;
  readonly #get;
  readonly #findContainer;
  readonly #all;
  readonly #changed;
  readonly #deleteAll;
  readonly #insertInput;
  readonly #deleteInput;
  readonly #deleteInputs;
  /** The number of the last change. It grows with every change. */
  #change: number;
  /** The last complete scan of each folder, if it equals the stored files. Most scans find no change. */
  readonly #knownContents = new Map<string, readonly FoundFile[]>();

  constructor(database: Database, ids: Ids) {
    database.migrateTables("container_files", TABLES);
    this.#database = database;
    this.#ids = ids;
    this.#insert = database.prepare(
      `INSERT INTO container_files (id, container_id, name, bytes, created_at, source, stamp, change)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#update = database.prepare(
      "UPDATE container_files SET bytes = ?, source = 'assistant', stamp = ?, change = ? WHERE id = ?",
    );
    this.#replace = database.prepare(
      "UPDATE container_files SET deleted = 1 WHERE container_id = ? AND name = ? AND deleted = 0",
    );
    this.#delete = database.prepare("UPDATE container_files SET deleted = 1 WHERE id = ?");
    const ofContainer = "SELECT * FROM container_files WHERE deleted = 0 AND container_id = ?";
    this.#get = database.prepare(`${ofContainer} AND id = ?`);
    this.#findContainer = database.prepare(
      "SELECT container_id FROM container_files WHERE deleted = 0 AND id = ?",
    );
    this.#all = database.prepare(ofContainer);
    this.#changed = database.prepare(
      `${ofContainer} AND change > ? AND source = 'assistant' ORDER BY change`,
    );
    this.#deleteAll = database.prepare("DELETE FROM container_files WHERE container_id = ?");
    this.#insertInput = database.prepare(
      "INSERT OR IGNORE INTO container_inputs (container_id, key) VALUES (?, ?)",
    );
    const ofInputs = "DELETE FROM container_inputs WHERE container_id = ?";
    this.#deleteInput = database.prepare(`${ofInputs} AND key = ?`);
    this.#deleteInputs = database.prepare(ofInputs);
    const last = database.prepare("SELECT max(change) AS change FROM container_files").get();
    this.#change = Number(last?.["change"] ?? 0);
  }

  /** Returns a mark, to list later what has changed since. */
  getMark(): number {
    return this.#change;
  }

  /** Records a file. It replaces an existing one with the same name. */
  add({ containerId, name, bytes, stamp, source, at }: NewContainerFile): StoredContainerFile {
    this.#knownContents.delete(containerId);
    this.#replace.run(containerId, name);
    const id = this.#ids.next("cfile_");
    this.#insert.run(id, containerId, name, bytes, at, source, stamp, ++this.#change);
    return { id, containerId, name, bytes, createdAt: at, source, stamp };
  }

  /** Returns the id of the container that has a file, or `null`. */
  findContainer(id: string): string | null {
    const row = this.#findContainer.get(id);
    return row ? readTextColumn(row, "container_id") : null;
  }

  /** Returns `undefined` if the container has no file with this id. */
  get(containerId: string, id: string): StoredContainerFile | undefined {
    const row = this.#get.get(containerId, id);
    return row && toContainerFile(row);
  }

  /** Returns one page of a container's files. */
  list(
    containerId: string,
    query: PageQuery,
  ): { readonly files: readonly StoredContainerFile[]; readonly hasMore: boolean } {
    const where = "deleted = 0 AND container_id = ?";
    const list = { table: "container_files", where, values: [containerId] };
    const { rows, hasMore } = readRowPage(this.#database, list, query);
    return { files: rows.map(toContainerFile), hasMore };
  }

  /** Returns the files that code has created or changed since the mark. */
  listChangedSince(containerId: string, mark: number): readonly StoredContainerFile[] {
    return this.#changed.all(containerId, mark).map(toContainerFile);
  }

  /** Updates the records to match a scan. New and changed files are attributed to code (`"assistant"`). */
  reconcile(containerId: string, found: FolderContents, at: number): void {
    const { files, isPartial, since } = found;
    if (!isPartial && hasSameFiles(files, this.#knownContents.get(containerId))) return;
    const rows = this.#all.all(containerId);
    const known = new Map(rows.map((row) => [readTextColumn(row, "name"), row]));
    const work: (() => void)[] = [];
    for (const file of files) {
      const row = known.get(file.name);
      known.delete(file.name);
      if (!row) work.push(() => this.add({ ...file, containerId, source: "assistant", at }));
      else if (readTextColumn(row, "stamp") !== file.stamp) {
        const { bytes, stamp } = file;
        work.push(() => this.#update.run(bytes, stamp, ++this.#change, readTextColumn(row, "id")));
      }
    }
    const missing = [...known.values()];
    const deletedRows = isPartial
      ? []
      : missing.filter((row) => readNumberColumn(row, "change") <= since);
    for (const row of deletedRows) work.push(() => this.delete(readTextColumn(row, "id")));
    if (work.length > 0) {
      this.#database.transaction(() => {
        for (const step of work) step();
      });
    }
    const isAll = !isPartial && deletedRows.length === missing.length;
    if (isAll && files.length <= MAX_CACHED_FILES) this.#knownContents.set(containerId, files);
    else this.#knownContents.delete(containerId);
  }

  /** Deletes the record of a file. Its id stays valid as a cursor until the container is deleted. */
  delete(id: string): void {
    this.#knownContents.clear();
    this.#delete.run(id);
  }

  /** Deletes all file records of a deleted container. */
  deleteAll(containerId: string): void {
    this.#knownContents.delete(containerId);
    this.#deleteAll.run(containerId);
    this.#deleteInputs.run(containerId);
  }

  /** Records that a container has received a file of the input. Returns whether it was new. */
  addInput(containerId: string, key: string): boolean {
    return this.#insertInput.run(containerId, key).changes > 0;
  }

  /** Deletes the record that a container has received a file of the input. */
  deleteInput(containerId: string, key: string): void {
    this.#deleteInput.run(containerId, key);
  }
}

function hasSameFiles(
  files: readonly FoundFile[],
  others: readonly FoundFile[] | undefined,
): boolean {
  if (files.length !== others?.length) return false;
  return files.every(({ name, stamp }, index) => {
    const other = others[index];
    return name === other?.name && stamp === other.stamp;
  });
}

function toContainerFile(row: Row): StoredContainerFile {
  return {
    id: readTextColumn(row, "id"),
    containerId: readTextColumn(row, "container_id"),
    name: readTextColumn(row, "name"),
    bytes: readNumberColumn(row, "bytes"),
    createdAt: readNumberColumn(row, "created_at"),
    source: readTextColumn(row, "source") === "user" ? "user" : "assistant",
    stamp: readTextColumn(row, "stamp"),
  };
}
