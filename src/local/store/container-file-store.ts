import type { Ids } from "../ids.ts";
import type { Database } from "./database.ts";
import { type PageQuery, readRowPage } from "./paging.ts";
import { numberIn, type Row, textIn } from "./row.ts";

/** A file of a container as it is kept: its bytes are in the container's folder. */
export interface StoredContainerFile {
  readonly id: string;
  readonly containerId: string;
  /** Below `/mnt/data`: `"sub/x.txt"`. */
  readonly name: string;
  readonly bytes: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly source: "user" | "assistant";
  /** Another one means that its bytes are others. */
  readonly stamp: string;
}

/** A file as it was found in a folder. */
export interface FoundFile {
  readonly name: string;
  readonly bytes: number;
  readonly stamp: string;
}

/** Everything that was found in one container's folder, from a certain moment on. */
export interface FolderContents {
  readonly files: readonly FoundFile[];
  /** There was more than is listed: what is missing may still be there. */
  readonly isPartial: boolean;
  /** The `mark()` before the search: what was noted after it is newer than the search. */
  readonly since: number;
}

/** Who a file belongs to, and when. */
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
];

/** Folders of more files than this are compared with what is stored every time. */
const MOST_REMEMBERED = 100;

/** Keeps which files a container has, so that the same file has the same id whenever it is asked for. */
export class ContainerFileStore {
  readonly #database: Database;
  readonly #ids: Ids;
  readonly #insert;
  readonly #update;
  readonly #replace;
  readonly #delete;
  readonly #get;
  readonly #all;
  readonly #changed;
  readonly #forget;
  /** Grows with every change: tells what changed since when. */
  #change: number;
  /** What was found in folders, where it is all that is stored. Most searches find the same again. */
  readonly #settled = new Map<string, readonly FoundFile[]>();

  constructor(database: Database, ids: Ids) {
    database.tables("container_files", TABLES);
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
    this.#all = database.prepare(ofContainer);
    this.#changed = database.prepare(
      `${ofContainer} AND change > ? AND source = 'assistant' ORDER BY change`,
    );
    this.#forget = database.prepare("DELETE FROM container_files WHERE container_id = ?");
    const last = database.prepare("SELECT max(change) AS change FROM container_files").get();
    this.#change = Number(last?.["change"] ?? 0);
  }

  /** A moment, to ask later what changed since. */
  mark(): number {
    return this.#change;
  }

  /** Notes a file, in place of one of the same name. */
  add({ containerId, name, bytes, stamp, source, at }: NewContainerFile): StoredContainerFile {
    this.#settled.delete(containerId);
    this.#replace.run(containerId, name);
    const id = this.#ids.next("cfile_");
    this.#insert.run(id, containerId, name, bytes, at, source, stamp, ++this.#change);
    return { id, containerId, name, bytes, createdAt: at, source, stamp };
  }

  /** `undefined` if that container has none of this id. */
  get(containerId: string, id: string): StoredContainerFile | undefined {
    const row = this.#get.get(containerId, id);
    return row && toFile(row);
  }

  /** A container's files, by pages. */
  list(
    containerId: string,
    query: PageQuery,
  ): { readonly files: readonly StoredContainerFile[]; readonly hasMore: boolean } {
    const where = "deleted = 0 AND container_id = ?";
    const list = { table: "container_files", where, values: [containerId] };
    const { rows, hasMore } = readRowPage(this.#database, list, query);
    return { files: rows.map(toFile), hasMore };
  }

  /** What code has made or changed since the mark. */
  changedSince(containerId: string, mark: number): readonly StoredContainerFile[] {
    return this.#changed.all(containerId, mark).map(toFile);
  }

  /** Brings what is known in line with what is there: whatever is new or differs, code has made. */
  reconcile(containerId: string, found: FolderContents, at: number): void {
    const { files, isPartial, since } = found;
    if (!isPartial && isSame(files, this.#settled.get(containerId))) return;
    const rows = this.#all.all(containerId);
    const known = new Map(rows.map((row) => [textIn(row, "name"), row]));
    const work: (() => void)[] = [];
    for (const file of files) {
      const row = known.get(file.name);
      known.delete(file.name);
      if (!row) work.push(() => this.add({ ...file, containerId, source: "assistant", at }));
      else if (textIn(row, "stamp") !== file.stamp) {
        const { bytes, stamp } = file;
        work.push(() => this.#update.run(bytes, stamp, ++this.#change, textIn(row, "id")));
      }
    }
    const missing = [...known.values()];
    const gone = isPartial ? [] : missing.filter((row) => numberIn(row, "change") <= since);
    for (const row of gone) work.push(() => this.delete(textIn(row, "id")));
    if (work.length > 0) {
      this.#database.transaction(() => {
        for (const step of work) step();
      });
    }
    const isAll = !isPartial && gone.length === missing.length;
    if (isAll && files.length <= MOST_REMEMBERED) this.#settled.set(containerId, files);
    else this.#settled.delete(containerId);
  }

  /** Its place in the list stays known until the container is gone. */
  delete(id: string): void {
    this.#settled.clear();
    this.#delete.run(id);
  }

  /** Forgets all files of a container that is gone. */
  forget(containerId: string): void {
    this.#settled.delete(containerId);
    this.#forget.run(containerId);
  }
}

function isSame(files: readonly FoundFile[], others: readonly FoundFile[] | undefined): boolean {
  if (files.length !== others?.length) return false;
  return files.every(({ name, stamp }, index) => {
    const other = others[index];
    return name === other?.name && stamp === other.stamp;
  });
}

function toFile(row: Row): StoredContainerFile {
  return {
    id: textIn(row, "id"),
    containerId: textIn(row, "container_id"),
    name: textIn(row, "name"),
    bytes: numberIn(row, "bytes"),
    createdAt: numberIn(row, "created_at"),
    source: textIn(row, "source") === "user" ? "user" : "assistant",
    stamp: textIn(row, "stamp"),
  };
}
