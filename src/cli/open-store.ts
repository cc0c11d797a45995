import { getErrorMessage, InvalidOptionError } from "../base/errors.ts";
import { getErrorCode } from "../host/to-filesystem-error.ts";
import { checkSchema } from "../inspect/sources/check-schema.ts";
import { findSessionPlace } from "../inspect/sources/find-session-place.ts";
import type { DatabasePlace } from "../inspect/sources/open-session-database.ts";
import type { SessionStore } from "../session/session-store.ts";
import { JsonlSessionStore } from "../stores/jsonl-session-store.ts";

/** Options of {@link openStore}. */
export interface StoreOptions {
  /** Schema of a PostgreSQL database's tables. @default "wink" */
  readonly schema?: string | undefined;
  /** Whether the caller writes: tables in PostgreSQL are created, and the folder of a fleet is refused. @default false */
  readonly create?: boolean | undefined;
}

/** A store that a command has opened, and closes. */
export type OpenedStore = SessionStore & AsyncDisposable;

/**
 * Opens the store that a user names with `--store`: a folder, a SQLite file, a fleet's folder, or a `postgres://` URL. Reading creates
 * nothing. Writing creates a missing folder, or a SQLite file if the path ends in `.sqlite`, `.sqlite3` or `.db`. Throws
 * `InvalidOptionError` for any other place.
 */
export async function openStore(
  place: string,
  { schema, create = false }: StoreOptions = {},
): Promise<OpenedStore> {
  const tables = checkSchema(schema);
  if (place === "") throw createPlaceError(place, "must be a path or a URL");
  const found = await findSessionPlace(place);
  switch (found.kind) {
    case "fleet":
      if (create) throw createFleetError(place);
      return await openDatabaseStore(found, tables, { create });
    case "postgres":
      return await openDatabaseStore(found, tables, { create });
    case "folder":
      return new JsonlSessionStore(found.path);
    case "sqlite":
      return await openSqliteStore(found.path);
    case "missing": {
      const { path, cause } = found;
      if (getErrorCode(cause) !== "ENOENT") {
        throw createPlaceError(
          place,
          `must be a place that can be opened (${getErrorMessage(cause)})`,
          cause,
        );
      }
      return DATABASE_NAME.test(path) ? await openSqliteStore(path) : new JsonlSessionStore(path);
    }
    case "file":
      throw createPlaceError(place, "must be a store of sessions, not a single file");
  }
}

const DATABASE_NAME = /\.(?:sqlite3?|db)$/i;

async function openSqliteStore(path: string): Promise<OpenedStore> {
  const { SqliteSessionStore } = await import("../stores/sqlite/sqlite-session-store.ts");
  return new SqliteSessionStore(path);
}

async function openDatabaseStore(
  place: DatabasePlace,
  schema: string,
  options: { readonly create: boolean },
): Promise<OpenedStore> {
  const { openSessionDatabase } = await import("../inspect/sources/open-session-database.ts");
  const { DatabaseSessionStore } = await import("../inspect/sources/database-session-store.ts");
  try {
    const { database } = await openSessionDatabase(place, schema, options);
    return new DatabaseSessionStore({ database, schema });
  } catch (error) {
    throw error instanceof InvalidOptionError ? error.withField("--store") : error;
  }
}

function createFleetError(place: string): InvalidOptionError {
  return new InvalidOptionError({
    ...{ field: "--store", value: place, rule: "must not be the folder of a fleet" },
    remedy: "use wink fleet, or another folder",
  });
}

function createPlaceError(place: string, rule: string, cause?: unknown): InvalidOptionError {
  return new InvalidOptionError({
    ...{ field: "--store", value: place, rule, cause },
    remedy: "pass a folder of sessions, a SQLite file or a postgres:// URL",
  });
}
