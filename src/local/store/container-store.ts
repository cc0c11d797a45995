import type { Database } from "./database.ts";
import { type PageQuery, readRowPage } from "./paging.ts";
import { numberIn, type Row, textIn, textOrNullIn } from "./row.ts";

/** How much memory a container may have, from the least: what OpenAI accepts. */
export const MEMORY_TIERS: readonly string[] = ["1g", "4g", "16g", "64g"];

/** What a container's code may reach: here, nothing. */
export interface NetworkPolicy {
  readonly type: "disabled" | "allowlist";
  readonly allowed_domains?: readonly string[] | undefined;
}

/** A container as it is kept. */
export interface StoredContainer {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970, as the next. */
  readonly createdAt: number;
  readonly lastActiveAt: number;
  readonly minutes: number;
  /** One of `MEMORY_TIERS`. */
  readonly memoryLimit: string;
  readonly networkPolicy: NetworkPolicy | null;
  /** Expired for good: its files are gone. */
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

/** Keeps what is known of containers; their files are `ContainerFileStore`'s. */
export class ContainerStore {
  /** Those that live and were asked for: nobody else writes to the file, so they need not be read again. */
  readonly #living = new Map<string, StoredContainer>();
  readonly #database: Database;
  readonly #insert;
  readonly #get;
  readonly #live;
  readonly #touch;
  readonly #expire;
  readonly #delete;

  constructor(database: Database) {
    database.tables("containers", TABLES);
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO containers (id, name, created_at, last_active_at, minutes, memory_limit, network_policy)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#get = database.prepare("SELECT * FROM containers WHERE id = ? AND deleted = 0");
    this.#live = database.prepare("SELECT * FROM containers WHERE expired = 0 AND deleted = 0");
    this.#touch = database.prepare(
      "UPDATE containers SET last_active_at = ? WHERE id = ? AND expired = 0 AND deleted = 0",
    );
    this.#expire = database.prepare("UPDATE containers SET expired = 1 WHERE id = ?");
    this.#delete = database.prepare("UPDATE containers SET deleted = 1 WHERE id = ?");
  }

  /** Keeps a new one. */
  add(container: StoredContainer): void {
    const { id, name, createdAt, lastActiveAt, minutes, memoryLimit, networkPolicy } = container;
    const policy = networkPolicy && JSON.stringify(networkPolicy);
    this.#insert.run(id, name, createdAt, lastActiveAt, minutes, memoryLimit, policy);
  }

  /** `undefined` if there is none, or no more. */
  get(id: string): StoredContainer | undefined {
    const living = this.#living.get(id);
    if (living) return living;
    const row = this.#get.get(id);
    const container = row && toContainer(row);
    if (container && !container.expired) this.#living.set(id, container);
    return container;
  }

  /** Those that have not been marked as expired. */
  live(): readonly StoredContainer[] {
    return this.#live.all().map((row) => this.#newest(row));
  }

  /** Those of one name, or all. */
  list(
    query: PageQuery,
    name?: string,
  ): { readonly containers: readonly StoredContainer[]; readonly hasMore: boolean } {
    const scope =
      name === undefined
        ? { table: "containers", where: "deleted = 0", values: [] }
        : { table: "containers", where: "deleted = 0 AND name = ?", values: [name] };
    const { rows, hasMore } = readRowPage(this.#database, scope, query);
    return { containers: rows.map((row) => this.#newest(row)), hasMore };
  }

  /** Notes that it was used, if it lives. It is shown by the second, and stored no finer. */
  touch(id: string, at: number): void {
    const container = this.get(id);
    if (!container || container.expired) return;
    this.#living.set(id, { ...container, lastActiveAt: at });
    if (secondOf(at) !== secondOf(container.lastActiveAt)) this.#touch.run(at, id);
  }

  /** Marks it for good. */
  expire(id: string): void {
    this.#living.delete(id);
    this.#expire.run(id);
  }

  /** Its place in the list stays known; all else is forgotten. */
  delete(id: string): void {
    this.#living.delete(id);
    this.#delete.run(id);
  }

  #newest(row: Row): StoredContainer {
    return this.#living.get(textIn(row, "id")) ?? toContainer(row);
  }
}

function secondOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function toContainer(row: Row): StoredContainer {
  const policy = textOrNullIn(row, "network_policy");
  return {
    id: textIn(row, "id"),
    name: textIn(row, "name"),
    createdAt: numberIn(row, "created_at"),
    lastActiveAt: numberIn(row, "last_active_at"),
    minutes: numberIn(row, "minutes"),
    memoryLimit: textIn(row, "memory_limit"),
    networkPolicy: policy === null ? null : JSON.parse(policy),
    expired: numberIn(row, "expired") === 1,
  };
}
