import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SessionStore } from "weakincentives";
import {
  JsonlSessionStore,
  PostgresSessionStore,
  type SqlClient,
  SqliteSessionStore,
} from "weakincentives/stores";

/** A session store, and one plain durable write to the same kind of storage. */
export interface StoreBesideBare extends AsyncDisposable {
  readonly store: SessionStore;
  insert(text: string): Promise<unknown>;
}

/** Opens the stores that can be measured here, by name. */
export const openStores: Readonly<Record<string, (folder: string) => Promise<StoreBesideBare>>> = {
  JSONL: openJsonl,
  SQLite: openSqlite,
  PGlite: openPGlite,
  ...(process.env["WINK_POSTGRES"] && { PostgreSQL: openPostgres }),
};

/** Appends a line and waits until it is on disk. */
async function openJsonl(folder: string): Promise<StoreBesideBare> {
  const store = new JsonlSessionStore(join(folder, "jsonl"));
  const file = await open(join(folder, "bare.jsonl"), "a", 0o600);
  return {
    store,
    async insert(text) {
      await file.write(`${text}\n`);
      await file.datasync();
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await file.close();
    },
  };
}

async function openSqlite(folder: string): Promise<StoreBesideBare> {
  const store = new SqliteSessionStore(join(folder, "store.sqlite"));
  const sqlite = new DatabaseSync(join(folder, "bare.sqlite"));
  sqlite.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  sqlite.exec("CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT)");
  const statement = sqlite.prepare("INSERT INTO bare (text) VALUES (?)");
  return {
    store,
    insert: async (text) => statement.run(text),
    async [Symbol.asyncDispose]() {
      await store.close();
      sqlite.close();
    },
  };
}

async function openPGlite(folder: string): Promise<StoreBesideBare> {
  const { PGlite } = await import("@electric-sql/pglite");
  const sql = new PGlite(join(folder, "pglite"));
  return await openSql(sql, () => sql.close());
}

async function openPostgres(): Promise<StoreBesideBare> {
  const { Pool } = await import("pg");
  const sql = new Pool({ connectionString: process.env["WINK_POSTGRES"], max: 4 });
  return await openSql(sql, () => sql.end());
}

async function openSql(sql: SqlClient, close: () => Promise<void>): Promise<StoreBesideBare> {
  const schema = `bench_${randomUUID().slice(0, 8)}`;
  const store = new PostgresSessionStore({ sql, schema });
  await store.migrate();
  await sql.query(`create table ${schema}.bare (id bigserial primary key, text text)`);
  return {
    store,
    insert: (text) => sql.query(`insert into ${schema}.bare (text) values ($1)`, [text]),
    async [Symbol.asyncDispose]() {
      await sql.query(`drop schema ${schema} cascade`);
      await close();
    },
  };
}
