import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import { SessionStoreError } from "../../../src/session/session-store.ts";
import {
  SqliteSessionStore,
  type SqliteSessionStoreOptions,
} from "../../../src/stores/sqlite/sqlite-session-store.ts";
import { temporaryTree } from "../temporary-tree.ts";

/** Returns the path of a database that does not exist yet, in a new folder. */
export function createPath(): string {
  return join(temporaryTree(), "sessions.sqlite");
}

/** Opens a store. It is closed when the test ends. */
export function openStore(path: string, options?: SqliteSessionStoreOptions): SqliteSessionStore {
  const store = new SqliteSessionStore(path, options);
  onTestFinished(() => store.close());
  return store;
}

/** Opens a database as another program would. It is closed when the test ends. */
export function openFile(path: string): DatabaseSync {
  const sqlite = new DatabaseSync(path);
  onTestFinished(() => sqlite.close());
  return sqlite;
}

/** Returns the error of `work`. Throws if it is not a `SessionStoreError`. */
export async function catchError(work: Promise<unknown>): Promise<SessionStoreError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof SessionStoreError) return error;
  throw new Error("there was no SessionStoreError", { cause: error });
}

/** Reads the records of session `s`. */
export async function readAll(store: SqliteSessionStore): Promise<object[]> {
  const records: object[] = [];
  for await (const record of store.read("s")) records.push(record);
  return records;
}
