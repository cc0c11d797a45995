import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FleetError } from "../fleet-error.ts";
import type { FleetDatabase } from "./fleet-database.ts";
import { openFolderDatabase } from "./folder-database.ts";
import { openPostgresDatabase } from "./postgres-database.ts";

const address = process.env["WINK_POSTGRES"] ?? "";
const folders = mkdtempSync(join(tmpdir(), "wink-test-"));
afterAll(() => rmSync(folders, { recursive: true, force: true }));
const databases: readonly (readonly [string, () => Promise<FleetDatabase>, boolean])[] = [
  ["PGlite", () => openFolderDatabase(join(folders, crypto.randomUUID())), true],
  ["PostgreSQL", () => openPostgresDatabase({ postgres: address }), address !== ""],
];

describe.each(databases)("a fleet's database on %s", (name, openDatabase, isThere) => {
  if (!isThere) {
    test.skip("needs WINK_POSTGRES, see scripts/with-postgres.ts", () => {});
    return;
  }
  let database: FleetDatabase;
  const table = `entry_${crypto.randomUUID().slice(0, 8)}`;
  const readNumbers = async () => (await database.query(`select n from ${table} order by n`)).rows;
  const insert = `insert into ${table} values ($1)`;

  beforeAll(async () => {
    database = await openDatabase();
    await database.runScript(`create table ${table} (n bigint primary key)`);
  });
  beforeEach(async () => void (await database.query(`delete from ${table}`)));
  afterAll(async () => {
    await database.runScript(`drop table ${table}`);
    await database.close();
  });

  test("returns 64-bit integers as text", async () => {
    const { rows } = await database.query("select $1::bigint as n, array[2::bigint] as list", [1]);
    expect(rows).toEqual([{ n: "1", list: ["2"] }]);
  });

  test("tells whether other processes can use it", () => {
    expect(database.isShared).toBe(name === "PostgreSQL");
  });

  test("commits a transaction, and returns its result", async () => {
    const result = await database.transact(async (sql) => {
      await sql.query(insert, [1]);
      await sql.query(insert, [2]);
      return "done";
    });
    expect(result).toBe("done");
    expect(await readNumbers()).toEqual([{ n: "1" }, { n: "2" }]);
  });

  test("rolls back a transaction that throws, and is usable afterwards", async () => {
    const failed = database.transact(async (sql) => {
      await sql.query(insert, [1]);
      throw new Error("changed my mind");
    });
    await expect(failed).rejects.toThrow("changed my mind");
    expect(await readNumbers()).toEqual([]);
  });

  test("passes on the error of a failed statement with its code", async () => {
    const failed = database.transact(async (sql) => {
      await sql.query(insert, [1]);
      await sql.query(insert, [1]);
    });
    await expect(failed).rejects.toMatchObject({ code: "23505" });
    expect(await readNumbers()).toEqual([]);
  });

  test("rejects a transaction that ignores the error of a statement", async () => {
    const failed = database.transact(async (sql) => {
      await sql.query(insert, [1]);
      await sql.query(insert, [1]).catch(() => {});
    });
    await expect(failed).rejects.toThrow(
      /^The transaction is rolled back, because .*duplicate key/,
    );
    await expect(failed).rejects.toBeInstanceOf(FleetError);
    expect(await readNumbers()).toEqual([]);
  });

  test("commits a transaction whose failed statement was rolled back to a savepoint", async () => {
    await database.transact(async (sql) => {
      await sql.query(insert, [1]);
      await sql.query("savepoint before");
      await sql.query(insert, [1]).catch(() => {});
      await sql.query("rollback to savepoint before");
    });
    expect(await readNumbers()).toEqual([{ n: "1" }]);
  });

  test("refuses a statement after its transaction has ended", async () => {
    const kept = await database.transact(async (sql) => sql);
    await expect(kept.query(insert, [1])).rejects.toThrow(
      /^The transaction of this statement has ended: insert .* Await all statements/,
    );
    expect(await readNumbers()).toEqual([]);
  });

  test("does not mix concurrent statements into a transaction", async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const transaction = database.transact(async (sql) => {
      await sql.query(insert, [1]);
      start();
      await sql.query("select 1");
      throw new Error("rolled back");
    });
    await started;
    await Promise.all([
      expect(transaction).rejects.toThrow("rolled back"),
      database.query(insert, [2]),
    ]);
    expect(await readNumbers()).toEqual([{ n: "2" }]);
  });

  test("runs a script and returns the rows of all its statements", async () => {
    const script = `begin; insert into ${table} values (1) returning n; select 2 as two; commit`;
    expect(await database.runScript(script)).toEqual({ rows: [{ n: "1" }, { two: 2 }] });
    expect(await database.runScript("select 3 as three")).toEqual({ rows: [{ three: 3 }] });
    expect(await readNumbers()).toEqual([{ n: "1" }]);
  });

  test("runs a statement that must not be in a transaction as a script", async () => {
    await database.runScript(`create index concurrently ${table}_n on ${table} (n)`);
    await database.runScript(`drop index ${table}_n`);
  });

  test("rolls back the open transaction of a script that fails, before the next statement runs", async () => {
    const script = `begin; insert into ${table} values (1); select 1 / 0; commit`;
    const failed = database.runScript(script);
    const others = Array.from({ length: 20 }, () => database.query("select 1"));
    await expect(failed).rejects.toMatchObject({ code: "22012" });
    await Promise.all(others);
    expect(await readNumbers()).toEqual([]);
  });

  test("delivers notifications to the connections that listen to the channel", async () => {
    const first = await database.connect();
    const second = await database.connect();
    const messages: string[] = [];
    const channel = `A "b" ${table}`;
    await first?.listen(channel, (payload) => messages.push(`first ${payload}`));
    await second?.listen(channel, (payload) => messages.push(`second ${payload}`));
    await second?.listen(`${table}`, (payload) => messages.push(`other ${payload}`));
    await database.query("select pg_notify($1, $2)", [channel, "one"]);
    await expect.poll(() => [...messages].sort()).toEqual(["first one", "second one"]);
    await first?.close();
    await first?.ended;
    await database.query("select pg_notify($1, '')", [channel]);
    await expect.poll(() => messages.length).toBe(3);
    expect(messages.at(-1)).toBe("second ");
    await second?.close();
  });

  test.each(["", "c".repeat(64), "a\0b"])(
    "refuses to listen to the channel %j",
    async (channel) => {
      const connection = await database.connect();
      const listening = connection?.listen(channel, () => {});
      await expect(listening).rejects.toThrow("A channel's name must have 1 to 63 bytes");
      await connection?.close();
    },
  );

  test("runs statements on a connection", async () => {
    const connection = await database.connect();
    expect((await connection?.query("select $1::int as n", [1]))?.rows).toEqual([{ n: 1 }]);
    await connection?.close();
    await connection?.close();
  });

  test("ends its connections when it is closed, also connections that are being opened", async () => {
    const other = await openDatabase();
    const connection = await other.connect();
    const opening = other.connect();
    await Promise.all([other.close(), other.close()]);
    await connection?.ended;
    await (await opening)?.ended;
    await expect(other.query("select 1")).rejects.toThrow();
    await using closed = other;
    expect(closed).toBe(other);
  });
});
