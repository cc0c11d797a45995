import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { PostgresSessionStore } from "../stores/postgres/postgres-session-store.ts";
import type { FleetDatabase } from "./database/fleet-database.ts";
import { openFolderDatabase } from "./database/folder-database.ts";
import { openPostgresDatabase } from "./database/postgres-database.ts";
import type { PostgresPool } from "./database/postgres-pool.ts";
import { Dispatch } from "./dispatch.ts";
import { FleetError } from "./fleet-error.ts";
import { type FleetMomentListener, onFleetMoment } from "./fleet-moment.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { AttemptTable } from "./tables/attempt-table.ts";
import { createFleetMigration, FLEET_VERSION } from "./tables/fleet-migration.ts";
import type { Row } from "./tables/run-row.ts";
import { getChannel, RunTable } from "./tables/run-table.ts";
import { WorkerTable } from "./tables/worker-table.ts";
import { Notifications } from "./watch/notifications.ts";
import { WakeSender } from "./watch/wake-sender.ts";
import { Reaper } from "./worker/reaper.ts";
import type { BlobStore } from "./workspace/blob-store.ts";

/** Options of `Fleet.open`: a folder, or PostgreSQL. */
export interface FleetOptions {
  /**
   * Folder for an embedded database, PGlite. One process at a time can open it. Needs the packages pg-boss and
   * @electric-sql/pglite.
   */
  readonly folder?: string | undefined;
  /** PostgreSQL: its URL, or a `Pool` of the package pg, which you close. Needs the packages pg-boss and pg. */
  readonly postgres?: string | PostgresPool | undefined;
  /**
   * URL of PostgreSQL itself, if `postgres` is a pooler in transaction mode. Without it, use `false`: workers then find
   * lost workers by their heartbeats and jobs by polling. @default the same as `postgres`
   */
  readonly direct?: string | false | undefined;
  /**
   * Schema of the tables: 1 to 40 letters, digits and `_`, not starting with a digit. The queue's tables are in
   * a second schema, with `_pgboss` at the end. @default "wink"
   */
  readonly schema?: string | undefined;
  /** How many runs of each loop may wait. `enqueue` of this `Fleet` throws `FleetFullError` above it. @default no limit */
  readonly maxWaiting?: number | undefined;
  /**
   * How many days runs that are done, failed or cancelled are kept, with their sessions. Dead-lettered runs are not
   * deleted. Each worker of this `Fleet` deletes older runs of all loops; `false` deletes none. @default 30
   */
  readonly keepDoneDays?: number | false | undefined;
  /**
   * Folder on this machine for the files of runs, which only this user can access.
   * @default "files" in `folder`, otherwise ".wink/fleet-files" in the home folder
   */
  readonly filesFolder?: string | undefined;
  /** Where the files of runs are stored, so that another machine can continue them. @default the database */
  readonly blobs?: BlobStore | undefined;
}

/** {@link FleetOptions} with the option for tests. */
export interface WatchedFleetOptions extends FleetOptions {
  /** Called at each moment and barrier of each attempt. */
  readonly [onFleetMoment]?: FleetMomentListener | undefined;
}

const fleetKeys: KnownKeys<FleetOptions> = {
  blobs: true,
  direct: true,
  filesFolder: true,
  folder: true,
  keepDoneDays: true,
  maxWaiting: true,
  postgres: true,
  schema: true,
};

/** Opens the database of a fleet, creates or updates its tables, and connects to its queue. */
export async function openFleet(given: WatchedFleetOptions): Promise<FleetParts> {
  checkOptions(given);
  const options = { ...given };
  const { schema = "wink", keepDoneDays = 30 } = options;
  const database = await openDatabase(options);
  try {
    const store = new PostgresSessionStore({ sql: database, schema, leaseMs: LEASE_MS });
    await store.migrate();
    await migrateFleet(database, schema);
    const runs = new RunTable(schema);
    const parts: FleetParts = {
      database,
      schema,
      dispatch: await Dispatch.open(database, `${schema}_pgboss`),
      notifications: new Notifications(database, getChannel(schema)),
      store,
      wakes: new WakeSender(() => runs.notify(database, { type: "wake" })),
      runs,
      attempts: new AttemptTable(schema, LEASE_MS),
      workers: new WorkerTable(schema),
      blobs: options.blobs ?? null,
      folder: findFilesFolder(options),
      keepDoneDays,
      running: new Set(),
      onMoment: options[onFleetMoment],
    };
    await giveBackAll(parts);
    return parts;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Closes everything that {@link openFleet} has opened. */
export async function closeFleet(parts: FleetParts): Promise<void> {
  const { wakes, notifications, dispatch, database } = parts;
  try {
    await wakes.settle();
    await notifications.close();
    await dispatch.close();
  } finally {
    await database.close();
  }
}

/** How long a session's claim lasts without a heartbeat, in milliseconds. */
const LEASE_MS = 15_000;

async function openDatabase({ folder, postgres, direct }: FleetOptions): Promise<FleetDatabase> {
  if (folder !== undefined) return await openFolderDatabase(join(resolve(folder), "database"));
  if (postgres !== undefined) return await openPostgresDatabase({ postgres, direct });
  throw refuse("folder", undefined, "must be set, or postgres", 'use { folder: ".wink/fleet" }');
}

async function migrateFleet(database: FleetDatabase, schema: string): Promise<void> {
  await database.runScript(createFleetMigration(`"${schema}"`));
  const { rows } = await database.query(
    `select max(version) as version from "${schema}".fleet_migration`,
  );
  const version = Number((rows as readonly Row[])[0]?.["version"]);
  if (version <= FLEET_VERSION) return;
  const what = `A newer release has changed the fleet's tables in the schema "${schema}" (version ${version})`;
  throw new FleetError(`${what}. Update weakincentives, or use another schema.`);
}

/**
 * Gives the runs in a folder back to the queue: it was locked, so those that a worker has were left by a process that has
 * ended.
 */
async function giveBackAll(parts: FleetParts): Promise<void> {
  if (parts.database.isShared) return;
  try {
    await parts.workers.declareAllGone(parts.database);
    await new Reaper(parts).giveBackOrphans();
  } catch (error) {
    await parts.dispatch.close();
    throw error;
  }
}

function findFilesFolder({ filesFolder, folder }: FleetOptions): string {
  if (filesFolder !== undefined) return resolve(filesFolder);
  return folder === undefined
    ? join(homedir(), ".wink", "fleet-files")
    : join(resolve(folder), "files");
}

const refuse = InvalidOptionError.at((name) => `Fleet.open(${name})`);

function checkOptions(options: FleetOptions): void {
  checkKnownKeys(options, "Fleet.open(options)", fleetKeys);
  const {
    folder,
    postgres,
    direct,
    schema = "wink",
    maxWaiting,
    keepDoneDays,
    filesFolder,
    blobs,
  } = options;
  if (folder !== undefined && postgres !== undefined) {
    throw refuse("folder", folder, "must be omitted if postgres is set", "use one of the two");
  }
  for (const [name, value] of Object.entries({ folder, filesFolder })) {
    if (value === undefined || (typeof value === "string" && value !== "")) continue;
    throw refuse(name, value, "must be the path of a folder", 'use ".wink/fleet"');
  }
  if (direct !== undefined && postgres === undefined) {
    throw refuse("direct", direct, "must be omitted without postgres", "omit it", { secret: true });
  }
  if (typeof schema !== "string" || !/^[A-Za-z_]\w{0,39}$/.test(schema)) {
    const rule = "must be 1-40 letters, digits and _, not starting with a digit";
    throw refuse("schema", schema, rule, 'omit it for "wink"');
  }
  const days = keepDoneDays === false ? undefined : keepDoneDays;
  for (const [name, value] of Object.entries({ maxWaiting, keepDoneDays: days })) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw refuse(name, value, "must be a positive integer", "omit it for the default");
  }
  if (blobs === undefined) return;
  const methods = [blobs?.put, blobs?.get, blobs?.has];
  if (methods.every((method) => typeof method === "function")) return;
  const rule = "must be an object with put(), get() and has()";
  throw refuse("blobs", blobs, rule, "omit it for the database", { secret: true });
}
