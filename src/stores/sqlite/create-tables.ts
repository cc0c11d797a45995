import type { DatabaseSync } from "node:sqlite";
import { createForeignRefusal, createNewerRefusal } from "./sqlite-errors.ts";

/** Throws `PathRefusal` for a database that this release must not use. */
export function checkTables(sqlite: DatabaseSync): void {
  const version = readPragma(sqlite, "user_version");
  const isOurs = readPragma(sqlite, "application_id") === APPLICATION_ID;
  if (!isOurs && readPragma(sqlite, "schema_version") > 0) throw createForeignRefusal();
  if (version > VERSION) throw createNewerRefusal(version);
}

/** Creates the tables of an empty database. */
export function createTables(sqlite: DatabaseSync): void {
  if (readPragma(sqlite, "user_version") === VERSION) return;
  sqlite.exec("BEGIN IMMEDIATE");
  try {
    if (readPragma(sqlite, "user_version") === 0) sqlite.exec(TABLES); // else another process did it
    sqlite.exec("COMMIT");
  } catch (error) {
    if (sqlite.isTransaction) sqlite.exec("ROLLBACK");
    throw error;
  }
}

/** "wink" in ASCII. */
const APPLICATION_ID = 0x77696e6b;
const VERSION = 1;

const TABLES = `
CREATE TABLE session (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  next INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  since TEXT,
  holder TEXT,
  lease_until INTEGER
) STRICT;
CREATE TABLE record (
  session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (session, n)
) STRICT;
CREATE TABLE checkpoint (
  session INTEGER PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
  checkpoint TEXT NOT NULL
) STRICT;
CREATE TABLE fence (last INTEGER NOT NULL) STRICT;
INSERT INTO fence VALUES (0);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION};
`;

function readPragma(sqlite: DatabaseSync, name: string): number {
  return Number(sqlite.prepare(`PRAGMA ${name}`).get()?.[name]);
}
