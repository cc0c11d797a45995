import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { WinkError } from "../../base/errors.ts";
import { openPostgresDatabase } from "../../fleet/database/postgres-database.ts";
import { Fleet } from "../../fleet/fleet.ts";
import { RunTable } from "../../fleet/tables/run-table.ts";
import { ProgressLine, type Terminal } from "../progress-line.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import { toFleetFlagError } from "./to-fleet-flag-error.ts";

/** A fleet that a command has opened. */
export interface OpenedFleet {
  readonly fleet: Fleet;
  /** Statements that only the command line needs. */
  readonly runs: RunTable;
  /** Whether other processes can use the fleet at the same time. */
  readonly isShared: boolean;
}

/** How a command uses a fleet. */
export interface FleetUse {
  /** Whether tables in PostgreSQL may be created. A folder must have them. @default false */
  readonly create?: boolean | undefined;
  /** How many days a worker keeps runs that have ended; `false` for all. */
  readonly keepDoneDays?: number | false | undefined;
  /** Where the opening is shown if it is a terminal. @default standard error */
  readonly terminal?: Terminal | undefined;
}

/** Opens the chosen fleet for `work`, and closes it afterwards. Errors name the arguments of the command line. */
export async function useFleet<Result>(
  choice: FleetChoice,
  work: (opened: OpenedFleet) => Promise<Result>,
  { create = false, keepDoneDays, terminal = process.stderr }: FleetUse = {},
): Promise<Result> {
  const progress = new ProgressLine(terminal);
  try {
    progress.show("Opening the fleet …");
    await checkExists(choice, create);
    const { folder, postgres, schema, direct } = choice;
    await using fleet = await Fleet.open({ folder, postgres, schema, direct, keepDoneDays });
    progress.clear();
    const runs = new RunTable(schema ?? "wink");
    return await work({ fleet, runs, isShared: postgres !== undefined });
  } catch (error) {
    throw toFleetFlagError(error, choice);
  } finally {
    progress.clear();
  }
}

/** A command that only reads or changes runs creates no fleet: a misspelled name would leave tables behind. */
async function checkExists(choice: FleetChoice, create: boolean): Promise<void> {
  const { folder, postgres, schema = "wink" } = choice;
  if (folder !== undefined && !existsSync(join(folder, "database"))) {
    const remedy = "Enqueue a run there first, or use another --folder";
    throw new WinkError(`There is no fleet in ${resolve(folder)}. ${remedy}.`);
  }
  if (postgres === undefined || create) return;
  await using database = await openPostgresDatabase({ postgres });
  const { rows } = await database.query(
    "select from pg_tables where schemaname = $1 and tablename = 'fleet_migration'",
    [schema],
  );
  if (rows.length > 0) return;
  const remedy = "Enqueue a run or start a worker first, or use another --schema";
  throw new WinkError(`There is no fleet in the schema "${schema}". ${remedy}.`);
}
