/**
 * Session stores, which persist sessions across processes.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */
export type { SessionTruncated } from "./hold-session-file.ts";
export {
  JsonlSessionStore,
  type JsonlSessionStoreOptions,
} from "./jsonl-session-store.ts";
export {
  PostgresSessionStore,
  type PostgresSessionStoreOptions,
} from "./postgres/postgres-session-store.ts";
export type { SqlClient, SqlResult } from "./postgres/sql-client.ts";
export {
  SqliteSessionStore,
  type SqliteSessionStoreOptions,
} from "./sqlite/sqlite-session-store.ts";
