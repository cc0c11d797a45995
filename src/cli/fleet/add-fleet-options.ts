import { existsSync } from "node:fs";
import { type Command, Option } from "commander";

/** The flags with the place of a fleet. */
export interface FleetFlags {
  readonly folder?: string;
  readonly postgres?: string;
  readonly schema?: string;
}

/** The place of a fleet. */
export interface FleetChoice {
  readonly folder?: string | undefined;
  /** URL of PostgreSQL. It is never printed: it may have a password. */
  readonly postgres?: string | undefined;
  /** The flag or the variable that has the URL. */
  readonly source: "--folder" | "--postgres" | typeof POSTGRES_VARIABLE;
  readonly schema?: string | undefined;
  /** URL of PostgreSQL itself, if `postgres` is a pooler; `false` if it cannot be reached. It is never printed. */
  readonly direct?: string | false | undefined;
}

/** The flags of a fleet that is used through a pooler. */
export interface DirectFlags extends FleetFlags {
  readonly direct?: string;
}

const DEFAULT_FOLDER = ".wink/fleet";
const POSTGRES_VARIABLE = "WINK_FLEET_POSTGRES";
const DIRECT_VARIABLE = "WINK_FLEET_DIRECT";

/** Adds the flags with the place of a fleet. */
export function addFleetOptions(command: Command): Command {
  return command
    .option("--folder <path>", `folder of the fleet (default: ${DEFAULT_FOLDER}, if it exists)`)
    .addOption(
      new Option("--postgres <url>", "PostgreSQL of the fleet; the variable keeps its password")
        .env(POSTGRES_VARIABLE)
        .default(undefined),
    )
    .option("--schema <name>", "schema of the fleet's tables (default: wink)");
}

/** Returns the place of the fleet. A flag wins over the environment, and that over the default folder. */
export function selectFleet(flags: FleetFlags, command: Command): FleetChoice {
  const { folder, postgres, schema } = flags;
  const isFlag = command.getOptionValueSource("postgres") === "cli";
  if (folder !== undefined && isFlag) {
    command.error("error: --folder and --postgres cannot be used together");
  }
  if (folder !== undefined) return { folder, source: "--folder", schema };
  if (postgres !== undefined && (postgres !== "" || isFlag)) {
    return { postgres, source: isFlag ? "--postgres" : POSTGRES_VARIABLE, schema };
  }
  if (existsSync(DEFAULT_FOLDER)) return { folder: DEFAULT_FOLDER, source: "--folder", schema };
  const where = `there is no folder ${DEFAULT_FOLDER} here`;
  command.error(`error: ${where}. Use --folder, --postgres or ${POSTGRES_VARIABLE}`);
}

/** Adds the flag for PostgreSQL behind a pooler in transaction mode. */
export function addDirectOption(command: Command): Command {
  return command.addOption(
    new Option("--direct <url>", 'PostgreSQL itself if --postgres is a pooler, or "none"')
      .env(DIRECT_VARIABLE)
      .default(undefined),
  );
}

/** Returns the place of a fleet that may be behind a pooler. In a folder, the variable has no meaning. */
export function selectPooledFleet(flags: DirectFlags, command: Command): FleetChoice {
  const choice = selectFleet(flags, command);
  const { direct } = flags;
  const isFlag = command.getOptionValueSource("direct") === "cli";
  if (isFlag && choice.postgres === undefined) {
    command.error("error: --direct must be used together with --postgres or its variable");
  }
  if (choice.postgres === undefined || direct === undefined || (direct === "" && !isFlag)) {
    return choice;
  }
  return { ...choice, direct: direct === "none" ? false : direct };
}
