import { join } from "node:path";
import type { SessionStore } from "../../../src/index.ts";
import {
  JsonlSessionStore,
  PostgresSessionStore,
  SqliteSessionStore,
} from "../../../src/stores/index.ts";

/** The stores that a storm runs on. */
export type StormStore = "jsonl" | "sqlite" | "postgres";

/** A store, and what closes it. */
export interface OpenedStore {
  readonly store: SessionStore;
  close(): Promise<void>;
}

/** Opens the store of a run. PostgreSQL's address is in WINK_POSTGRES. */
export async function openStormStore(kind: StormStore, folder: string): Promise<OpenedStore> {
  if (kind === "postgres") return await openPostgres();
  const store =
    kind === "jsonl"
      ? new JsonlSessionStore(join(folder, "sessions"), { onRepair: () => {} })
      : new SqliteSessionStore(join(folder, "sessions.sqlite"));
  return { store, close: () => store.close() };
}

async function openPostgres(): Promise<OpenedStore> {
  const { Pool } = await import("pg");
  const pool = new Pool({ connectionString: process.env["WINK_POSTGRES"], max: 2 });
  const store = new PostgresSessionStore({ sql: pool, schema: "storm" });
  await store.migrate();
  return { store, close: () => pool.end() };
}
