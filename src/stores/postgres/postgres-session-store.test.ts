import { PGlite } from "@electric-sql/pglite";
import { Client, Pool } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { sessionStoreContract } from "../../testing/session-store-contract.ts";
import { identifyHolder } from "../sql/identify-holder.ts";
import { PostgresSessionStore } from "./postgres-session-store.ts";
import type { SqlClient } from "./sql-client.ts";

/** A database for the tests, and what closes it. */
interface Database {
  readonly sql: SqlClient;
  close(): Promise<void>;
}

const address = process.env["WINK_POSTGRES"];
const databases: readonly (readonly [string, () => Database, boolean])[] = [
  ["PGlite", openPGlite, true],
  ["PostgreSQL with a pool", openPool, address !== undefined],
  ["PostgreSQL with a client", openClient, address !== undefined],
];

function openPGlite(): Database {
  const sql = new PGlite();
  return { sql, close: () => sql.close() };
}

function openPool(): Database {
  const sql = new Pool({ connectionString: address, max: 5 });
  return { sql, close: () => sql.end() };
}

function openClient(): Database {
  const sql = new Client({ connectionString: address });
  void sql.connect();
  return { sql, close: () => sql.end() };
}

async function catchError(work: Promise<unknown>): Promise<SessionStoreError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof SessionStoreError) return error;
  throw new Error("there was no SessionStoreError", { cause: error });
}

describe.each(databases)("a PostgresSessionStore on %s", (_name, openDatabase, isThere) => {
  if (!isThere) {
    test.skip("needs WINK_POSTGRES, see scripts/with-postgres.ts", () => {});
    return;
  }
  let database: Database;
  let sql: SqlClient;
  const schemas: string[] = [];
  beforeAll(() => {
    database = openDatabase();
    sql = database.sql;
  });
  afterAll(async () => {
    for (const schema of schemas) await sql.query(`drop schema if exists "${schema}" cascade`);
    await database.close();
  });

  const nameSchema = () => {
    const schema = `Test_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
    schemas.push(schema);
    return schema;
  };
  /** Creates a store with its own tables. */
  const createStore = async (options: { leaseMs?: number; schema?: string } = {}) => {
    const store = new PostgresSessionStore({ sql, schema: nameSchema(), ...options });
    await store.migrate();
    return store;
  };
  const createPair = async (leaseMs?: number) => {
    const schema = nameSchema();
    const first = await createStore({ schema, ...(leaseMs && { leaseMs }) });
    const alter = (text: string) => sql.query(text.replaceAll("wink.", `"${schema}".`));
    return { first, second: await createStore({ schema }), alter };
  };

  describe("passes the contract:", () => {
    const schemaOf = new WeakMap<object, string>();
    const make = async (schema = nameSchema()) => {
      const store = await createStore({ schema });
      schemaOf.set(store, schema);
      return store;
    };
    const another = (store: object) => make(schemaOf.get(store));
    for (const { name, run } of sessionStoreContract(() => make(), { another })) test(name, run);
  });

  test("says to call migrate() while its tables are missing, and works after it", async () => {
    const store = new PostgresSessionStore({ sql, schema: nameSchema() });
    const { message } = await catchError(store.append("s", { n: 0 }));
    expect(message).toContain("Call migrate() on the store once");
    await Promise.all([store.migrate(), store.migrate(), store.migrate()]);
    await store.migrate();
    await store.append("s", { n: 0 });
    expect(await store.list()).toEqual(["s"]);
  });

  test("refuses tables of a newer release", async () => {
    const schema = nameSchema();
    const store = await createStore({ schema });
    await sql.query(`insert into "${schema}".migration values (2)`);
    const { message } = await catchError(new PostgresSessionStore({ sql, schema }).list());
    expect(message).toContain("(version 2). Update weakincentives, or use another schema.");
    await catchError(store.migrate());
  });

  test("stores 250 records of one tick with one statement", async () => {
    const statements: string[] = [];
    const counted: SqlClient = {
      query(text, params) {
        statements.push(text);
        return sql.query(text, params);
      },
    };
    const schema = nameSchema();
    await createStore({ schema });
    const store = new PostgresSessionStore({ sql: counted, schema });
    const { fence, release } = await store.claim("s");
    statements.length = 0;
    const writer = {};
    const records = Array.from({ length: 250 }, (_, n) => ({ n, text: '\\ "{}, NULL' }));
    await Promise.all(
      records.map((record) => store.append("s", record, { writer, position: record.n, fence })),
    );
    expect(statements).toHaveLength(1);
    await release();
    const read: object[] = [];
    for await (const record of store.read("s")) read.push(record);
    expect(read).toEqual(records);
  });

  test("lists more sessions than fit in a page", async () => {
    const { alter, first } = await createPair();
    await alter(
      "insert into wink.session (id, next) select 's' || i, 1 from generate_series(1, 12000) i",
    );
    expect(await first.list()).toHaveLength(12_000);
  });

  test("takes over the claim of a process that has ended, whose records are refused", async () => {
    const { first, second, alter } = await createPair();
    const lost = await first.claim("s", { owner: "old" });
    const ended = identifyHolder().replace(/"pid":\d+/, '"pid":999999999');
    await alter(`update wink.session set holder = '${ended}'`);
    const claim = await second.claim("s", { owner: "new" });
    const by = { writer: {}, position: 0, fence: lost.fence };
    const error = await catchError(first.append("s", { n: 0 }, by));
    expect(error).toMatchObject({ owner: "new", since: claim.since, sessionId: "s" });
    await catchError(first.writeCheckpoint("s", {}, by));
    await lost.release();
    await catchError(first.claim("s"));
    await claim.release();
  });

  test("keeps a claim for its lease by the database's clock, and extends it", async () => {
    const { first, second, alter } = await createPair(100);
    const held = await first.claim("s");
    const read = async () => {
      const { rows } = await alter("select lease_until::text as until from wink.session");
      return String(Object.values(rows[0] ?? {})[0]);
    };
    const before = await read();
    await expect.poll(async () => (await read()) > before).toBe(true);
    await alter("update wink.session set lease_until = now() - interval '1 s', fence = 99");
    const taken = await second.claim("s");
    expect(taken.fence).toBe(100);
    await held.release();
    await catchError(first.claim("s"));
    await taken.release();
  });

  test("ends a claim whose lease is far in the future, because the clock was set back", async () => {
    const { first, second, alter } = await createPair();
    const lost = await first.claim("s");
    await alter("update wink.session set holder = '{}', lease_until = now() + interval '2 days'");
    const claim = await second.claim("s");
    await catchError(first.append("s", {}, { writer: {}, position: 0, fence: lost.fence }));
    await claim.release();
  });

  test("refuses an id with NUL, and keeps ids with the text of SQL apart", async () => {
    const store = await createStore();
    const { message } = await catchError(store.append("a\0b", {}));
    expect(message).toContain('must not contain NUL, got "a\\u0000b". Use a different session id.');
    const ids = ["../s", "'; drop schema wink; --", "$1", "s", "S", "é", "e\u0301", "%", "_"];
    for (const id of ids) await store.append(id, { id });
    for (const id of ids) {
      expect(await store.read(id)[Symbol.asyncIterator]().next()).toMatchObject({ value: { id } });
    }
    expect(await store.list()).toHaveLength(ids.length);
  });

  test("stores 60 MB of one tick with several statements", async () => {
    const store = await createStore();
    const writer = {};
    const records = [0, 1, 2].map((n) => ({ n, text: "x".repeat(20_000_000) }));
    await Promise.all(
      records.map((record) => store.append("s", record, { writer, position: record.n })),
    );
    let n = 0;
    for await (const record of store.read("s")) expect(record).toEqual(records[n++]);
    expect(n).toBe(3);
  });

  /** Returns a connection that runs `work` once, before the first statement that starts with `text`. */
  const interrupt = (text: string, work: () => Promise<unknown>): SqlClient => {
    let isDone = false;
    return {
      async query(statement, params) {
        if (!isDone && statement.trimStart().startsWith(text)) {
          isDone = true;
          await work();
        }
        return await sql.query(statement, params);
      },
    };
  };

  test("claims a session that is released between its two statements", async () => {
    const schema = nameSchema();
    const first = await createStore({ schema });
    const held = await first.claim("s");
    const late = interrupt("select key", () => held.release());
    const claim = await new PostgresSessionStore({ sql: late, schema }).claim("s");
    expect(claim.fence).toBeGreaterThan(held.fence);
    await claim.release();
  });

  test("refuses the first record of a session that is claimed just before it", async () => {
    const schema = nameSchema();
    const first = await createStore({ schema });
    const late = interrupt("insert into", () => first.claim("s", { owner: "the first" }));
    const store = new PostgresSessionStore({ sql: late, schema });
    expect(await catchError(store.append("s", { n: 0 }))).toMatchObject({ owner: "the first" });
    expect(await first.list()).toEqual([]);
  });

  test("accepts a record of a holder whose lease has run out, if no other writer has taken over", async () => {
    const { first, second, alter } = await createPair();
    const { fence, release } = await first.claim("s");
    await alter("update wink.session set lease_until = now() - interval '1 s'");
    await first.append("s", { n: 0 }, { writer: {}, position: 0, fence });
    await catchError(second.claim("s")); // the record has extended the lease
    await release();
  });

  test("reports a damaged record with its number", async () => {
    const { first, alter } = await createPair();
    await first.append("s", { n: 0 });
    await alter("update wink.record set record = '{'");
    const read = first.read("s")[Symbol.asyncIterator]();
    expect((await catchError(read.next())).message).toContain('Record 0 of session "s" is damaged');
  });
});

describe("a PostgresSessionStore", () => {
  const sql: SqlClient = { query: async () => ({ rows: [] }) };

  test.each(["", "1a", "a-b", 'a"b', "a".repeat(64), "é", 7 as unknown as string])(
    "refuses the schema %j",
    (schema) => {
      const create = () => new PostgresSessionStore({ sql, schema });
      expect(create).toThrow(InvalidOptionError);
      expect(create).toThrow("PostgresSessionStore.schema must be 1-63 letters, digits and _");
    },
  );

  test("refuses a client without query(), and does not print it", () => {
    const wrong = "postgres://user:pass123@host" as unknown as SqlClient;
    const create = () => new PostgresSessionStore({ sql: wrong });
    expect(create).toThrow("PostgresSessionStore.sql must be an object with query()");
    expect(create).not.toThrow("pass123");
  });

  test("refuses a lease that is not a duration", () => {
    const create = () => new PostgresSessionStore({ sql, leaseMs: -1 });
    expect(create).toThrow("PostgresSessionStore.leaseMs must be a whole number of milliseconds");
  });

  const failures: readonly (readonly [string, string, string])[] = [
    ["42P01", "relation does not exist", "Call migrate()"],
    ["42501", "permission denied", "Grant the user the rights"],
    ["25006", "read-only transaction", "Connect to the primary server"],
    ["53100", "disk full", "Free space on the server's disk"],
    ["28P01", "password authentication failed", "Fix the user and the password"],
    ["3D000", "database does not exist", "Create the database first."],
    ["57P01", "terminating connection", "Check that the server runs"],
    ["ECONNREFUSED", "", "ECONNREFUSED. Check that the server runs"],
    ["", "Connection terminated unexpectedly", "Check that the server runs"],
    ["XX000", "internal error", "Fix the database, then reopen"],
  ];
  test.each(failures)("reports the error %s %s with a remedy", async (code, text, remedy) => {
    const cause = Object.assign(new Error(text), code === "" ? {} : { code });
    const failing: SqlClient = { query: () => Promise.reject(cause) };
    const error = await catchError(new PostgresSessionStore({ sql: failing }).list());
    expect(error.message).toContain(`PostgreSQL failed in the schema "wink": ${text}`);
    expect(error.message).toContain(remedy);
    expect(error.cause).toBe(cause);
  });

  test("reports a server that does not answer", async () => {
    const pool = new Pool({ host: "127.0.0.1", port: 1 });
    onTestFinished(() => pool.end());
    const { message } = await catchError(new PostgresSessionStore({ sql: pool }).list());
    expect(message).toContain("Check that the server runs and accepts this connection");
  });
});
