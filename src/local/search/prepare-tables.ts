import type { Database } from "../store/database.ts";

/** The tables of vector stores. `row` is the order of creation. Each store has a separate index. */
const migrations = [
  `CREATE TABLE vector_stores (
     row INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL,
     last_active_at INTEGER NOT NULL,
     name TEXT,
     description TEXT,
     expires_days INTEGER,
     metadata TEXT NOT NULL,
     chunk_count INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE vector_store_batches (
     row INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     store INTEGER NOT NULL REFERENCES vector_stores(row) ON DELETE CASCADE,
     created_at INTEGER NOT NULL,
     is_cancelled INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE vector_store_files (
     row INTEGER PRIMARY KEY AUTOINCREMENT,
     store INTEGER NOT NULL REFERENCES vector_stores(row) ON DELETE CASCADE,
     batch INTEGER REFERENCES vector_store_batches(row) ON DELETE SET NULL,
     file_id TEXT NOT NULL,
     filename TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     status TEXT NOT NULL,
     error TEXT,
     usage_bytes INTEGER NOT NULL DEFAULT 0,
     attributes TEXT NOT NULL,
     max_tokens INTEGER NOT NULL,
     overlap_tokens INTEGER NOT NULL,
     UNIQUE (store, file_id)
   ) STRICT;
   CREATE INDEX vector_store_files_by_status ON vector_store_files (status, store);
   CREATE INDEX vector_store_files_by_batch ON vector_store_files (batch, status);
   CREATE INDEX vector_store_files_by_file ON vector_store_files (file_id);
   CREATE TABLE vector_store_chunks (
     id INTEGER PRIMARY KEY,
     file INTEGER NOT NULL,
     start INTEGER NOT NULL,
     text TEXT NOT NULL
   ) STRICT;
   CREATE INDEX vector_store_chunks_by_file ON vector_store_chunks (file, start);`,
];

/** Creates the tables, or migrates them to the current version. */
export function prepareTables(database: Pick<Database, "migrateTables">): void {
  database.migrateTables("vector_stores", migrations);
}
