import { describeLoadFailure } from "../../base/describe-load-failure.ts";
import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import { FleetError } from "../fleet-error.ts";
import type { PostgresClientEvents, PostgresPool } from "./postgres-pool.ts";

/** The parts of the package pg that a fleet uses. */
export interface PgModule {
  readonly Client: new (settings: PgSettings) => PgClient;
  readonly Pool: new (settings: PgSettings) => PgPool;
}

/** Settings of one connection, or of each connection of a pool. */
export interface PgSettings {
  readonly connectionString: string;
  readonly connectionTimeoutMillis: number;
  readonly fallback_application_name: string;
  readonly keepAlive: boolean;
  readonly keepAliveInitialDelayMillis: number;
}

/** A connection of the package pg. */
export interface PgClient extends PostgresClientEvents, SqlClient {
  connect(): Promise<unknown>;
  end(): Promise<void>;
}

/** A pool of the package pg. */
export interface PgPool extends PostgresPool {
  end(): Promise<void>;
}

/** Imports the package pg, an optional peer dependency. No other file imports its code. */
export async function loadPg(
  load: () => Promise<PgModule> = () => import("pg"),
): Promise<PgModule> {
  try {
    return await load();
  } catch (cause) {
    const problem = describeLoadFailure(cause);
    throw new FleetError(`The package pg ${problem}. Run npm install pg.`, { cause });
  }
}

/** Returns the settings of connections to a URL. A lost connection is noticed in about 20 seconds. */
export function createPgSettings(url: string): PgSettings {
  return {
    connectionString: url,
    connectionTimeoutMillis: 30_000, // also the longest wait for a free connection of a pool
    fallback_application_name: "weakincentives",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}
