import { InvalidOptionError } from "../../base/errors.ts";
import type { FleetConnection } from "./fleet-database.ts";
import { createPgSettings, loadPg, type PgModule } from "./load-pg.ts";
import { type PostgresAddress, parsePostgresAddress } from "./postgres-address.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import type { PostgresPool } from "./postgres-pool.ts";
import { toConnectionError } from "./to-connection-error.ts";

/** Where the PostgreSQL database of a fleet is. */
export interface PostgresDatabaseOptions {
  /** The URL of the database, or a pool of connections to it, which stays open when the database is closed. */
  readonly postgres: string | PostgresPool;
  /**
   * The URL for connections that stay the same, for notifications and locks, where `postgres` leads to a pooler in
   * transaction mode; or `false` for none.
   * @default the value of `postgres`
   */
  readonly direct?: string | false | undefined;
}

/** Provides the connections of a PostgreSQL database. */
export interface PostgresSource {
  /** Names the server in error messages. */
  readonly label: string;
  readonly pool: PostgresPool;
  /** Opens a connection that stays the same; `null` if there are none. */
  readonly connect: (() => Promise<FleetConnection>) | null;
  /** Ends the pool, unless the caller passed it. */
  endPool(): Promise<void>;
}

/** Creates the source that the options describe. Imports the package pg if one of them is a URL. */
export async function createPostgresSource(
  { postgres, direct }: PostgresDatabaseOptions,
  load?: () => Promise<PgModule>,
): Promise<PostgresSource> {
  const lasting = checkDirect(direct);
  const source =
    typeof postgres === "string"
      ? createPool(parsePostgresAddress(postgres, "postgres"), await loadPg(load))
      : usePool(checkPool(postgres));
  if (lasting === undefined) return source;
  return { ...source, connect: lasting && createConnect(lasting, await loadPg(load)) };
}

function createPool(address: PostgresAddress, pg: PgModule): PostgresSource {
  const pool = new pg.Pool(createPgSettings(address.url));
  const connect = createConnect(address, pg);
  return { label: address.label, pool, connect, endPool: () => pool.end() };
}

function usePool(pool: PostgresPool): PostgresSource {
  const label = "the address of the pool";
  const connect = async () => {
    const client = await pool.connect().catch((error: unknown) => {
      throw toConnectionError(error, label);
    });
    return new PostgresConnection(client, async () => client.release(true));
  };
  return { label, pool, connect, endPool: async () => {} };
}

function createConnect({ url, label }: PostgresAddress, pg: PgModule) {
  return async () => {
    const client = new pg.Client(createPgSettings(url));
    const connection = new PostgresConnection(client, () => client.end());
    try {
      await client.connect();
    } catch (error) {
      await connection.close();
      throw toConnectionError(error, label);
    }
    return connection;
  };
}

const refuse = InvalidOptionError.at("Fleet.open(options)");

function checkDirect(direct: string | false | undefined): PostgresAddress | null | undefined {
  if (direct === undefined) return undefined;
  if (direct === false) return null;
  return parsePostgresAddress(direct, "direct");
}

function checkPool(pool: PostgresPool): PostgresPool {
  if (typeof pool?.query === "function" && typeof pool.connect === "function") return pool;
  const rule = "must be a URL, or an object with query() and connect()";
  throw refuse("postgres", pool, rule, "pass a Pool of the package pg", { secret: true });
}
