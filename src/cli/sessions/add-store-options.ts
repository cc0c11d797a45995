import type { Command } from "commander";

/** The flags with the place of a store. */
export interface StoreFlags {
  readonly store?: string;
  readonly schema?: string;
}

/** The place of a store. */
export interface StoreChoice {
  /** A folder, a SQLite file or a `postgres://` URL. It is never printed: a URL may have a password. */
  readonly place: string;
  /** Schema of a PostgreSQL database's tables. @default "wink" */
  readonly schema?: string | undefined;
}

/** Adds the flags with the place of a store. */
export function addStoreOptions(command: Command): Command {
  return command
    .option(
      "--store <place>",
      "store of the sessions: a folder, a SQLite file or a postgres:// URL (required)",
    )
    .option("--schema <name>", "schema of a PostgreSQL database's tables (default: wink)");
}

/** Returns the place of the store. Rejects a command line without one. */
export function selectStore({ store, schema }: StoreFlags, command: Command): StoreChoice {
  if (store !== undefined) return { place: store, schema };
  const remedy = "Use --store with a folder of sessions, a SQLite file or a postgres:// URL";
  command.error(`error: --store is missing. ${remedy}`);
}
