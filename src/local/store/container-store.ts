import type { Database } from "./database.ts";
import type { NetworkPolicy } from "./network-policy.ts";
import { type PageQuery, readRowPage } from "./paging.ts";
import { type Row, readNullableText, readNumberColumn, readTextColumn } from "./row.ts";

/** The memory limits that OpenAI accepts, in ascending order. */
export const MEMORY_TIERS: readonly string[] = ["1g", "4g", "16g", "64g"];

/** The record of a container. */
export interface StoredContainer {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970, as is `lastActiveAt`. */
  readonly createdAt: number;
  readonly lastActiveAt: number;
  /** The container expires after this many idle minutes. */
  readonly minutes: number;
  /** An entry of `MEMORY_TIERS`. */
  readonly memoryLimit: string;
  readonly networkPolicy: NetworkPolicy | null;
  /** Whether the container has expired. Its files are then deleted. */
  readonly expired: boolean;
}

const TABLES = [
  `CREATE TABLE containers (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     name TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     last_active_at INTEGER NOT NULL,
     minutes INTEGER NOT NULL,
     memory_limit TEXT NOT NULL,
     network_policy TEXT,
     expired INTEGER NOT NULL DEFAULT 0,
     deleted INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE INDEX live_containers ON containers (id) WHERE expired = 0 AND deleted = 0`,
];

/** Stores container records. Their files are in `ContainerFileStore`. */
export class ContainerStore {
  /** A cache of live containers. No other process writes to the database, so entries stay valid. */
  readonly #liveCache = new Map<string, StoredContainer>();
  readonly #database: Database;
  readonly #insert;
  readonly #get;
  readonly #live;
  readonly #count;
  readonly #touch;
  readonly #expire;
  readonly #delete;

  constructor(database: Database) {
    database.migrateTables("containers", TABLES);
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO containers (id, name, created_at, last_active_at, minutes, memory_limit, network_policy)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#get = database.prepare("SELECT * FROM containers WHERE id = ? AND deleted = 0");
    this.#live = database.prepare("SELECT * FROM containers WHERE expired = 0 AND deleted = 0");
    this.#count = database.prepare(
      "SELECT COUNT(*) AS live FROM containers WHERE expired = 0 AND deleted = 0",
    );
    this.#touch = database.prepare(
      "UPDATE containers SET last_active_at = ? WHERE id = ? AND expired = 0 AND deleted = 0",
    );
    this.#expire = database.prepare("UPDATE containers SET expired = 1 WHERE id = ?");
    this.#delete = database.prepare("UPDATE containers SET deleted = 1 WHERE id = ?");
  }

  /** Stores a new container. */
  add(container: StoredContainer): void {
    const { id, name, createdAt, lastActiveAt, minutes, memoryLimit, networkPolicy } = container;
    const policy = networkPolicy && JSON.stringify(networkPolicy);
    this.#insert.run(id, name, createdAt, lastActiveAt, minutes, memoryLimit, policy);
  }

  /** Returns `undefined` if the container does not exist or was deleted. */
  get(id: string): StoredContainer | undefined {
    const living = this.#liveCache.get(id);
    if (living) return living;
    const row = this.#get.get(id);
    const container = row && toContainer(row);
    if (container && !container.expired) this.#liveCache.set(id, container);
    return container;
  }

  /** Returns the containers that are not marked as expired. */
  listLive(): readonly StoredContainer[] {
    return this.#live.all().map((row) => this.#toLatest(row));
  }

  /** Counts the containers that are not marked as expired. */
  countLive(): number {
    return readNumberColumn(this.#count.get() ?? {}, "live");
  }

  /** Returns one page of containers, optionally those with one name. */
  list(
    query: PageQuery,
    name?: string,
  ): { readonly containers: readonly StoredContainer[]; readonly hasMore: boolean } {
    const scope =
      name === undefined
        ? { table: "containers", where: "deleted = 0", values: [] }
        : { table: "containers", where: "deleted = 0 AND name = ?", values: [name] };
    const { rows, hasMore } = readRowPage(this.#database, scope, query);
    return { containers: rows.map((row) => this.#toLatest(row)), hasMore };
  }

  /** Records that a live container was used. The database stores the time with a resolution of one second. */
  touch(id: string, at: number): void {
    const container = this.get(id);
    if (!container || container.expired) return;
    this.#liveCache.set(id, { ...container, lastActiveAt: at });
    if (toSeconds(at) !== toSeconds(container.lastActiveAt)) this.#touch.run(at, id);
  }

  /** Marks a container as expired. */
  expire(id: string): void {
    this.#liveCache.delete(id);
    this.#expire.run(id);
  }

  /** Deletes a container. Its id stays valid as a cursor. */
  delete(id: string): void {
    this.#liveCache.delete(id);
    this.#delete.run(id);
  }

  #toLatest(row: Row): StoredContainer {
    return this.#liveCache.get(readTextColumn(row, "id")) ?? toContainer(row);
  }
}

function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function toContainer(row: Row): StoredContainer {
  const policy = readNullableText(row, "network_policy");
  return {
    id: readTextColumn(row, "id"),
    name: readTextColumn(row, "name"),
    createdAt: readNumberColumn(row, "created_at"),
    lastActiveAt: readNumberColumn(row, "last_active_at"),
    minutes: readNumberColumn(row, "minutes"),
    memoryLimit: readTextColumn(row, "memory_limit"),
    networkPolicy: policy === null ? null : JSON.parse(policy),
    expired: readNumberColumn(row, "expired") === 1,
  };
}
