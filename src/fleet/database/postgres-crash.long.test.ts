import { Pool } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { startPgbouncer } from "../../../tests/support/fleet/pgbouncer.ts";
import {
  findPostgresPrograms,
  startPostgres,
} from "../../../tests/support/fleet/postgres-server.ts";
import { openPostgresDatabase } from "./postgres-database.ts";

describe("a PostgreSQL database", () => {
  if (findPostgresPrograms() === null) {
    test.skip("needs PostgreSQL: apt-get install postgresql", () => {});
    return;
  }

  test.each(["a URL", "a pool"])(
    "survives a crash of the server, with %s, and works when it is back",
    async (kind) => {
      await using server = await startPostgres();
      const { url } = server.place;
      const pool = new Pool({ connectionString: url, max: 5 });
      onTestFinished(() => pool.end());
      await using database = await openPostgresDatabase({
        postgres: kind === "a URL" ? url : pool,
      });
      await database.runScript("create table t (n int); insert into t values (1)");
      const connection = await database.connect();
      await Promise.all([1, 2, 3].map(() => database.query("select pg_sleep(0.05)"))); // idle afterwards
      const { promise: began, resolve: begin } = Promise.withResolvers<void>();
      const { promise: restarted, resolve: resume } = Promise.withResolvers<void>();
      const interrupted = database.transact(async (sql) => {
        await sql.query("insert into t values (2)");
        begin();
        await restarted;
        await sql.query("insert into t values (3)");
      });
      const busy = database.query("select pg_sleep(60)");
      const ended = Promise.allSettled([interrupted, busy]);
      await began;
      await server.crash();
      await connection?.ended;
      await expect(database.query("select 1")).rejects.toThrow();
      await expect(database.transact((sql) => sql.query("select 1"))).rejects.toThrow();
      await server.start();
      resume();
      expect((await ended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
      expect((await database.query("select n from t")).rows).toEqual([{ n: 1 }]);
      const again = await database.connect();
      expect((await again?.query("select 1 as one"))?.rows).toEqual([{ one: 1 }]);
    },
  );

  test("loses no committed row in ten crashes", async () => {
    await using server = await startPostgres();
    await using database = await openPostgresDatabase({ postgres: server.place.url });
    await database.runScript("create table t (n int primary key)");
    const stored = new Set<number>();
    let isOver = false;
    const write = async () => {
      for (let n = 0; !isOver; n++) {
        const done = await database.query("insert into t values ($1)", [n]).catch(() => null);
        if (done) stored.add(n);
      }
    };
    const writing = write();
    try {
      for (let crash = 0; crash < 10; crash++) {
        const before = stored.size;
        await expect.poll(() => stored.size).toBeGreaterThan(before + 20);
        await server.restart();
      }
    } finally {
      isOver = true;
      await writing;
    }
    const { rows } = await database.query("select n from t");
    const found = new Set(rows.map((row) => Object.values(row)[0]));
    expect([...stored].filter((n) => !found.has(n))).toEqual([]);
  });

  test("works through pgbouncer in transaction mode, with notifications and locks at the direct URL", async (context) => {
    await using server = await startPostgres();
    await using bouncer = await startPgbouncer(server.place.url);
    if (!bouncer) return context.skip("needs pgbouncer: apt-get install pgbouncer");
    const direct = server.place.url;
    await using database = await openPostgresDatabase({ postgres: bouncer.url, direct });
    await database.runScript("begin; create table t (n int); insert into t values (1); commit");
    const connection = await database.connect();
    await connection?.query("select pg_advisory_lock(1)");
    const messages: string[] = [];
    await connection?.listen("t", (payload) => messages.push(payload));
    const runs = Array.from({ length: 20 }, (_, n) =>
      database.transact(async (sql) => {
        await sql.query("select pg_notify('t', $1)", [String(n)]);
        await sql.query("update t set n = n + $1", [1]);
      }),
    );
    await Promise.all(runs);
    await expect.poll(() => messages.length).toBe(20);
    expect((await database.query("select n from t")).rows).toEqual([{ n: 21 }]);
    const lock = await database.query("select pg_try_advisory_xact_lock(1) as free");
    expect(lock.rows).toEqual([{ free: false }]);
    await connection?.close();
    const isFree = async () =>
      (await database.query("select pg_try_advisory_xact_lock(1) as free")).rows;
    await expect.poll(isFree).toEqual([{ free: true }]);
    await using pooled = await openPostgresDatabase({ postgres: bouncer.url, direct: false });
    expect(await pooled.connect()).toBeNull();
  });
});
