import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { describeLoadFailure } from "../../base/describe-load-failure.ts";
import type { SqlClient, SqlResult } from "../../stores/postgres/sql-client.ts";
import { FleetError } from "../fleet-error.ts";

/** The parts of the package @electric-sql/pglite that a fleet uses. */
export interface PgliteModule {
  readonly PGlite: { create(options: PgliteSettings): Promise<PgliteInstance> };
}

/** Settings of a PGlite. */
export interface PgliteSettings {
  readonly dataDir: string;
  readonly parsers: Record<number, (value: string) => unknown>;
}

/** PostgreSQL in this process, with one connection. */
export interface PgliteInstance extends SqlClient {
  exec(text: string): Promise<readonly SqlResult[]>;
  transaction<Result>(work: (transaction: PgliteTransaction) => Promise<Result>): Promise<Result>;
  onNotification(onMessage: (channel: string, payload: string) => void): () => void;
  close(): Promise<void>;
}

/** An open transaction of a PGlite. */
export interface PgliteTransaction extends SqlClient {
  exec(text: string): Promise<readonly SqlResult[]>;
}

/** Imports the package @electric-sql/pglite, an optional peer dependency. No other file imports its code. */
export async function loadPglite(
  load: () => Promise<PgliteModule> = () => import("@electric-sql/pglite"),
): Promise<PgliteModule> {
  try {
    return await load();
  } catch (cause) {
    const problem = describeLoadFailure(cause);
    throw new FleetError(`PGlite ${problem}. Run npm install @electric-sql/pglite.`, { cause });
  }
}

/**
 * Opens the database in a folder, which no other process may use. A new database is created beside its final place and
 * moved there, because PGlite does not recover from a crash while it creates one.
 */
export async function openPglite(
  { PGlite }: PgliteModule,
  folder: string,
): Promise<PgliteInstance> {
  const data = join(folder, "data");
  if (!(await exists(data))) {
    const draft = join(folder, "new-data");
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 }); // the modes of PGlite's files let every user write to them
    await (await PGlite.create({ dataDir: draft, parsers })).close();
    await rename(draft, data);
  }
  return await PGlite.create({ dataDir: data, parsers });
}

/** Returns 64-bit integers as text, like the package pg. PGlite would return numbers or bigints, by their size. */
const parsers: PgliteSettings["parsers"] = { 20: (value) => value };

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
