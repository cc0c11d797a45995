import { PGlite } from "@electric-sql/pglite";
import { Pool } from "pg";
import { BLOB_TABLES } from "../../../src/fleet/workspace/blob-tables.ts";
import { PostgresSessionStore } from "../../../src/stores/postgres/postgres-session-store.ts";
import type { SqlClient } from "../../../src/stores/postgres/sql-client.ts";

/** A database of tests, and what closes it. */
export interface TestDatabase {
  readonly sql: SqlClient;
  close(): Promise<void>;
}

const address = process.env["WINK_POSTGRES"];

/** The databases to test with: their names, how to open them, and whether they are available. */
export const testDatabases: readonly (readonly [string, () => TestDatabase, boolean])[] = [
  ["PGlite", () => openPGlite(), true],
  ["PostgreSQL", openPool, address !== undefined],
];

/** Creates the tables of sessions and of contents in a schema. */
export async function createBlobTables(sql: SqlClient, schema: string): Promise<void> {
  await new PostgresSessionStore({ sql, schema }).migrate();
  const tables = BLOB_TABLES.replaceAll("wink.", `"${schema}".`);
  const isThere = `to_regclass('"${schema}".blob') is not null`;
  await sql.query(`do $$ begin if not (${isThere}) then ${tables} end if; end $$`);
}

/** Opens a database in a folder, or in memory. */
export function openPGlite(folder?: string): TestDatabase {
  const sql = new PGlite(folder);
  return { sql, close: () => sql.close() };
}

/** Opens a pool of connections to the database at WINK_POSTGRES. */
export function openPool(): TestDatabase {
  const sql = new Pool({ connectionString: address, max: 8 });
  return { sql, close: () => sql.end() };
}
