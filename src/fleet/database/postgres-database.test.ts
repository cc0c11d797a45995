import { Client, Pool } from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import { FleetError } from "../fleet-error.ts";
import { openPostgresDatabase } from "./postgres-database.ts";
import type { PostgresPool } from "./postgres-pool.ts";

const address = process.env["WINK_POSTGRES"];

async function catchError(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error("there was no error", { cause: error });
}

const failToLoad = () => Promise.reject(new Error("pg was loaded"));

describe("openPostgresDatabase()", () => {
  test.each([
    "postgres://wink:pass#word-1@host/db",
    "postgres://wink:pass%word-1@host/db",
    "mysql://wink:password-1@host/db",
    "host=db password=password-1",
    "",
  ])("refuses the URL %j and does not print it", async (postgres) => {
    const error = await catchError(openPostgresDatabase({ postgres }, failToLoad));
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toMatch(
      /^Fleet\.open\(options\)\.postgres must be a URL that starts with postgres:.*percent-encoded\.$/,
    );
    expect(JSON.stringify([error.message, String(error.cause), error])).not.toContain("word-1");
  });

  test("refuses a direct URL and does not print it", async () => {
    const options = { postgres: "postgres://host/db", direct: "password-1" };
    const error = await catchError(openPostgresDatabase(options, failToLoad));
    expect(error.message).toMatch(/^Fleet\.open\(options\)\.direct must be a URL/);
    expect(error.message).not.toContain("password-1");
  });

  test.each([{}, { query: () => {} }, null, 7])("refuses %j as a pool", async (pool) => {
    const postgres = pool as unknown as PostgresPool;
    const error = await catchError(openPostgresDatabase({ postgres }));
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toContain("must be a URL, or an object with query() and connect()");
  });

  test("says how to install pg if it is missing", async () => {
    const load = () => Promise.reject(new Error("Cannot find package 'pg' imported from x"));
    const error = await catchError(openPostgresDatabase({ postgres: "postgres://host/db" }, load));
    expect(error).toBeInstanceOf(FleetError);
    expect(error.message).toBe("The package pg is not installed. Run npm install pg.");
  });

  test.each(["localhost:1", "127.0.0.1:1", "[::1]:1"])(
    "reports a server that does not run at %s, without the password",
    async (host) => {
      const postgres = `postgres://wink:password-1@${host}/db`;
      const error = await catchError(openPostgresDatabase({ postgres }));
      expect(error).toBeInstanceOf(FleetError);
      expect(error.message).toMatch(/^PostgreSQL at \S+:1\/db cannot be used: .*ECONNREFUSED/);
      expect(error.message).toContain("Check that the server runs and can be reached from here.");
      expect(JSON.stringify([error.message, String(error.cause)])).not.toContain("password-1");
    },
  );

  test("reports a socket folder without a server", async () => {
    const postgres = "postgresql://wink@localhost/db?host=/nowhere";
    const error = await catchError(openPostgresDatabase({ postgres }));
    expect(error.message).toMatch(/^PostgreSQL at \/nowhere\/db cannot be used: .*ENOENT/);
  });

  test.each([
    ["53300", "Raise max_connections of the server, or use a pooler."],
    ["57P03", "Wait until the server has started."],
    [undefined, "Check that the server runs and can be reached from here."],
    ["28P01", "Fix the user and the password of the connection."],
  ])("reports the error %s of a pool with a remedy", async (code, remedy) => {
    const failure = code ? Object.assign(new Error("refused"), { code }) : new Error("refused");
    const fail = () => Promise.reject(failure);
    const error = await catchError(
      openPostgresDatabase({ postgres: { query: fail, connect: fail } }),
    );
    expect(error.message).toBe(
      `PostgreSQL at the address of the pool cannot be used: refused. ${remedy}`,
    );
    expect(error.cause).toBe(failure);
  });
});

test("names the code of an error that has no message", async () => {
  const failure = new AggregateError([], "");
  const fail = () => Promise.reject(Object.assign(failure, { code: "ECONNREFUSED" }));
  const error = await catchError(
    openPostgresDatabase({ postgres: { query: fail, connect: fail } }),
  );
  expect(error.message).toContain("cannot be used: ECONNREFUSED. Check that the server runs");
});

test("names localhost for a URL without a host", async () => {
  vi.stubEnv("PGHOST", "/nowhere");
  onTestFinished(() => void vi.unstubAllEnvs());
  const error = await catchError(openPostgresDatabase({ postgres: "postgres:///db" }));
  expect(error.message).toMatch(/^PostgreSQL at localhost\/db cannot be used: /);
});

describe("a PostgreSQL database", () => {
  if (address === undefined) {
    test.skip("needs WINK_POSTGRES, see scripts/with-postgres.ts", () => {});
    return;
  }
  const url = (path: string) => new URL(path, address).href;
  const createPool = () => {
    const pool = new Pool({ connectionString: address, max: 3 });
    onTestFinished(() => pool.end());
    return pool;
  };
  const terminate = "select pg_terminate_backend($1)";
  const readPid = async (sql: SqlClient) => {
    const { rows } = await sql.query("select pg_backend_pid() as pid");
    return Number(Object.values(rows[0] ?? {})[0]);
  };

  test("reports a database that does not exist, with a remedy", async () => {
    const error = await catchError(openPostgresDatabase({ postgres: url("/missing") }));
    expect(error.message).toMatch(
      /database "missing" does not exist\. Create the database first\.$/,
    );
  });

  test("uses a pool as it is, does not load pg, and leaves the pool open", async () => {
    const pool = createPool();
    const database = await openPostgresDatabase({ postgres: pool }, failToLoad);
    const connection = await database.connect();
    const messages: string[] = [];
    await connection?.listen("used_pool", (payload) => messages.push(payload));
    await database.transact((sql) => sql.query("notify used_pool, 'hello'"));
    await expect.poll(() => messages).toEqual(["hello"]);
    await database.close();
    await connection?.ended;
    expect(pool.listenerCount("error")).toBe(0);
    const message = "The fleet's database is closed. Open the fleet again.";
    await expect(database.query("select 1")).rejects.toThrow(message);
    await expect.poll(() => pool.totalCount).toBe(1); // the connection that listened is not reused
    await pool.query("select 1");
  });

  test("works with a pool that has no events", async () => {
    const pool = createPool();
    const postgres: PostgresPool = {
      query: (text, params) => pool.query(text, params),
      connect: () => pool.connect(),
    };
    await using database = await openPostgresDatabase({ postgres });
    expect(await readPid(database)).toBeGreaterThan(0);
  });

  test("reports that a pool has no connection to listen on", async () => {
    const pool = createPool();
    const postgres: PostgresPool = {
      query: (text, params) => pool.query(text, params),
      connect: () => Promise.reject(new Error("exhausted")),
    };
    await using database = await openPostgresDatabase({ postgres });
    const error = await catchError(database.connect());
    expect(error).toBeInstanceOf(FleetError);
    expect(error.message).toContain("exhausted");
  });

  test("opens no lasting connections if direct is false", async () => {
    await using database = await openPostgresDatabase({ postgres: address, direct: false });
    expect(await database.connect()).toBeNull();
  });

  test("opens lasting connections at the direct URL, also beside a pool", async () => {
    const direct = `${address}?application_name=direct_test`;
    await using database = await openPostgresDatabase({ postgres: createPool(), direct });
    const connection = await database.connect();
    expect((await connection?.query("show application_name"))?.rows).toEqual([
      { application_name: "direct_test" },
    ]);
    expect((await database.query("show application_name")).rows).toEqual([
      { application_name: "" },
    ]);
  });

  test("reports a direct URL that cannot be reached when a connection is opened", async () => {
    const direct = "postgres://127.0.0.1:1/db";
    await using database = await openPostgresDatabase({ postgres: address, direct });
    const error = await catchError(database.connect());
    expect(error.message).toMatch(/^PostgreSQL at 127\.0\.0\.1:1\/db cannot be used: .*REFUSED/);
  });

  test.each(["a URL", "a pool"])("notices the loss of a connection, from %s", async (kind) => {
    const pool = createPool();
    const postgres = kind === "a URL" ? address : pool;
    await using database = await openPostgresDatabase({ postgres });
    const connection = await database.connect();
    await connection?.query("select pg_advisory_lock(4711)");
    if (connection) await database.query(terminate, [await readPid(connection)]);
    await connection?.ended;
    await expect(connection?.query("select 1")).rejects.toThrow();
    const isFree = async () =>
      (await database.query("select pg_try_advisory_xact_lock(4711) as free")).rows;
    await expect.poll(isFree).toEqual([{ free: true }]);
    if (postgres === pool) expect(pool.totalCount - pool.idleCount).toBe(0);
  });

  test("survives the loss of clients, idle or in a transaction, and replaces them", async () => {
    const pool = createPool();
    await using database = await openPostgresDatabase({ postgres: pool });
    const other = new Client({ connectionString: address });
    await other.connect();
    onTestFinished(() => other.end());
    const idle = await readPid(pool);
    await other.query(terminate, [idle]);
    await expect.poll(() => pool.totalCount).toBe(0);
    const failed = database.transact(async (sql) => {
      await other.query(terminate, [await readPid(sql)]);
      const isGone = () => sql.query("select 1").catch(() => "gone");
      await expect.poll(isGone).toBe("gone");
    });
    await expect(failed).rejects.toThrow("The transaction is rolled back");
    await expect.poll(() => pool.totalCount).toBe(0); // the lost client was not returned
    expect(await database.transact((sql) => sql.query("select 1 as one"))).toMatchObject({
      rows: [{ one: 1 }],
    });
  });

  test("adds one listener to a client, however many transactions it runs", async () => {
    const pool = createPool();
    await using database = await openPostgresDatabase({ postgres: pool });
    for (let n = 0; n < 20; n++) await database.transact((sql) => sql.query("select 1"));
    expect(pool.totalCount).toBe(1);
    const client = await pool.connect();
    expect(client.listenerCount("error")).toBe(1);
    client.release();
  });
});
