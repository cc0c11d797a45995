import { join } from "node:path";
import { WinkError } from "../../base/errors.ts";
import type { FleetDatabase } from "../../fleet/database/fleet-database.ts";
import { openFolderDatabase } from "../../fleet/database/folder-database.ts";
import { parsePostgresAddress } from "../../fleet/database/postgres-address.ts";
import { openPostgresDatabase } from "../../fleet/database/postgres-database.ts";
import { PostgresSessionStore } from "../../stores/postgres/postgres-session-store.ts";
import type { SessionPlace } from "./find-session-place.ts";
import { hasTable } from "./fleet-source.ts";

/** A database with sessions. */
export interface SessionDatabase {
  readonly database: FleetDatabase;
  /** Names the database to the reader, without a password. */
  readonly label: string;
}

/** The place of a database: the URL of a server, or the folder of a fleet. */
export type DatabasePlace = Extract<SessionPlace, { readonly kind: "postgres" | "fleet" }>;

/**
 * Opens a database that has the tables of sessions, with the package pg or PGlite. While a fleet's folder is open, no
 * other process can use it. Throws `WinkError` if there are no tables, unless `create` is set.
 */
export async function openSessionDatabase(
  place: DatabasePlace,
  schema: string,
  { create = false }: { readonly create?: boolean | undefined } = {},
): Promise<SessionDatabase> {
  const opened = await openDatabase(place);
  const { database, label } = opened;
  try {
    if (await hasTable(database, schema, "record")) return opened;
    if (create) await new PostgresSessionStore({ sql: database, schema }).migrate();
    if (create) return opened;
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  const what = `The database ${label} has no sessions: there is no table ${schema}.record`;
  throw new WinkError(
    `${what}. Pass the URL of a database that a PostgresSessionStore or a fleet uses.`,
  );
}

async function openDatabase(place: DatabasePlace): Promise<SessionDatabase> {
  if (place.kind === "fleet") {
    const database = await openFolderDatabase(join(place.path, "database"));
    return { database, label: place.path };
  }
  const { label } = parsePostgresAddress(place.url, "postgres");
  return { database: await openPostgresDatabase({ postgres: place.url, direct: false }), label };
}
