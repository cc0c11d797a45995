import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createLoop,
  createTool,
  findRun,
  fleetDatabases,
  Gate,
  openTestFleet,
  type TestFleet,
} from "../../tests/support/fleet/fleet-fixture.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { Fleet } from "./fleet.ts";
import { FleetError } from "./fleet-error.ts";

describe("Fleet.open", () => {
  test.each<readonly [object, string]>([
    [
      {},
      'Fleet.open(folder) must be set, or postgres, got undefined. Use { folder: ".wink/fleet" }.',
    ],
    [
      { folder: "a", postgres: "postgres://h" },
      'Fleet.open(folder) must be omitted if postgres is set, got "a". Use one of the two.',
    ],
    [{ folder: "" }, 'Fleet.open(folder) must be the path of a folder, got "". Use ".wink/fleet".'],
    [{ folder: 5 }, "Fleet.open(folder) must be the path of a folder, got 5."],
    [{ folder: "a", filesFolder: "" }, "Fleet.open(filesFolder) must be the path of a folder"],
    [
      { folder: "a", direct: "postgres://u:pw@h" },
      "Fleet.open(direct) must be omitted without postgres, got a secret",
    ],
    [
      { folder: "a", schema: "a-b" },
      'Fleet.open(schema) must be 1-40 letters, digits and _, not starting with a digit, got "a-b". Omit it for "wink".',
    ],
    [{ folder: "a", schema: "s".repeat(41) }, "Fleet.open(schema) must be 1-40 letters"],
    [
      { folder: "a", maxWaiting: 0 },
      "Fleet.open(maxWaiting) must be a positive integer, got 0. Omit it for the default.",
    ],
    [{ folder: "a", keepDoneDays: 1.5 }, "Fleet.open(keepDoneDays) must be a positive integer"],
    [
      { folder: "a", blobs: { get: () => null } },
      "Fleet.open(blobs) must be an object with put(), get() and has()",
    ],
  ])("refuses the options %j", async (options, message) => {
    const opening = Fleet.open(options as never);
    await expect(opening).rejects.toThrow(InvalidOptionError);
    await expect(opening).rejects.toThrow(message);
  });
});

describe.each(fleetDatabases)("a fleet on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("that is opened", () => {
    let scene: TestFleet;
    beforeAll(async () => {
      scene = await openTestFleet(kind, { schema: "Wink_Upper" });
    });
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    test("shows its runs in the views now, stuck and spend", async () => {
      const { fleet, work, query, reach } = scene;
      const approval = createTool("act", () => {}, { needsApproval: true });
      const parking = createLoop({ tools: [approval], model: { toolCalls: [{ name: "act" }] } });
      const usage = { inputTokens: 30, outputTokens: 12 };
      const loop = createLoop({ model: { text: "done", usage } });
      const { stop } = work([parking, loop]);
      for (const n of [1, 2]) {
        const { id } = await fleet.enqueue(loop, { n }, { group: "team" });
        await fleet.result(id);
      }
      const parked = await fleet.enqueue(parking, { n: 1 });
      await reach(parked.id, "parked");
      await stop();
      const waiting = await fleet.enqueue(loop, { n: 3 });
      const byLoop = await query("select * from wink.now order by runs, state");
      expect(byLoop).toMatchObject([
        { loop: parking.name, version: "1", state: "parked", runs: "1" },
        { loop: loop.name, state: "waiting", runs: "1" },
      ]);
      const stuck = await query("select * from wink.stuck");
      expect(stuck).toMatchObject([{ id: parked.id, state: "parked", attempt: 1 }]);
      const spend = "select * from wink.spend where grp = 'team'";
      expect(await query(spend)).toMatchObject([
        { loop: loop.name, runs: "2", attempts: "2", lost_attempts: "0", total_tokens: "84" },
      ]);
      await fleet.cancel(waiting.id);
    });

    test("keeps the case of its schema, also for its queue", async () => {
      const { fleet, query } = scene;
      const loop = createLoop();
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const job = 'select name from "Wink_Upper_pgboss".job where id = $1';
      expect(await query(job, [id])).toEqual([{ name: `${loop.name}/1` }]);
    });

    test("is closed more than once without harm, and says so to those who wait", async () => {
      const other = await openTestFleet(kind);
      const { fleet } = other;
      const { id } = await fleet.enqueue(createLoop(), { n: 1 });
      const events = fleet.follow(id);
      const waits = [fleet.result(id), fleet.result(id), events.next()];
      const message = `The fleet was closed while run ${id} was watched. Open it again to wait for the run.`;
      const closed = waits.map((wait) => expect(wait).rejects.toThrow(new FleetError(message)));
      await Promise.all([fleet.close(), fleet.close()]);
      await Promise.all(closed);
      await expect(fleet.result(id)).rejects.toThrow(new FleetError(message));
      await expect(fleet.follow(id).next()).rejects.toThrow(new FleetError(message));
      await other[Symbol.asyncDispose]();
    });

    test("continues after it was closed and opened again", async () => {
      await using other = await openTestFleet(kind);
      const loop = createLoop();
      const { id } = await other.fleet.enqueue(loop, { n: 1 });
      await other.fleet.close();
      await using again = await Fleet.open(other.options);
      const stop = new AbortController();
      const working = again.worker([loop], { graceMs: 1_000 }).run({ signal: stop.signal });
      expect(await again.result(id)).toBe("done");
      stop.abort();
      await working;
    });
  });
});

describe("a fleet in a folder", () => {
  let place = "";
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), "wink-open-"));
  });
  afterAll(async () => {
    await rm(place, { recursive: true, force: true });
  });

  test("gives back the runs of a process that has ended when it is opened, and stays unlocked if it cannot be opened", async () => {
    const options = { folder: join(place, "fleet") };
    const loop = createLoop({ finalize: (output, { session }) => `${output} ${session.id}` });
    const first = await Fleet.open(options);
    const { id } = await first.enqueue(loop, { n: 1 });
    // As if a worker had been killed while it ran the request.
    await first.transact(async (sql) => {
      const worker =
        "insert into wink.worker (host, pid, loops, concurrency) values ('h', 1, 'l', 1) returning id";
      const { rows } = await sql.query(worker);
      const [{ id: number }] = rows as [{ id: number }];
      await sql.query("update wink.run set state = 'running', worker = $1, attempt = 1", [number]);
      await sql.query(
        "update wink_pgboss.job set state = 'active', started_on = now(), heartbeat_on = now()",
      );
    });
    await first.close();
    const second = await Fleet.open(options);
    expect(await second.workers()).toEqual([]);
    expect(await findRun(second, id)).toMatchObject({ state: "waiting", worker: null, lost: 1 });
    const stop = new AbortController();
    const working = second.worker([loop], { graceMs: 1_000 }).run({ signal: stop.signal });
    expect(await second.result(id)).toBe(`done ${id}`);
    stop.abort();
    await working;
    await second.transact(async (sql) => {
      await sql.query("update wink.run set state = 'running', worker = 1, job = id, loop = 'a b'");
    });
    await second.close();
    await expect(Fleet.open(options)).rejects.toThrow(/name/i); // the queue refuses the name of the loop
    await expect(Fleet.open(options)).rejects.toThrow(/name/i); // the folder is not locked
  });
});

describe.runIf(process.env["WINK_POSTGRES"] !== undefined)("a fleet on PostgreSQL", () => {
  const postgres = process.env["WINK_POSTGRES"] ?? "";

  test("is opened by several at once, and refuses tables of a newer release", async () => {
    const schema = `fleet_${crypto.randomUUID().slice(0, 8)}`;
    const fleets = await Promise.all(
      Array.from({ length: 5 }, () => Fleet.open({ postgres, schema })),
    );
    const loop = createLoop();
    const runs = await Promise.all(
      fleets.map((fleet) => fleet.enqueue(loop, { n: 1 }, { key: "k" })),
    );
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
    await Promise.all(fleets.map((fleet) => fleet.close()));
    const pool = new Pool({ connectionString: postgres });
    await pool.query(`insert into ${schema}.fleet_migration (version) values (99)`);
    await expect(Fleet.open({ postgres, schema })).rejects.toThrow(
      new FleetError(
        `A newer release has changed the fleet's tables in the schema "${schema}" (version 99). Update weakincentives, or use another schema.`,
      ),
    );
    await pool.query(`drop schema ${schema} cascade; drop schema ${schema}_pgboss cascade`);
    await pool.end();
  });

  test("runs requests on a pool of the caller, which stays open, without lasting connections", async () => {
    const pool = new Pool({ connectionString: postgres, max: 4 });
    await using scene = await openTestFleet("postgres", { postgres: pool, direct: false });
    const gate = new Gate();
    const loop = createLoop({
      tools: [createTool("act", ({ signal }) => gate.pass(signal))],
      model: { toolCalls: [{ name: "act" }] },
    });
    const { stop } = scene.work([loop]);
    const { id } = await scene.fleet.enqueue(loop, { n: 1 });
    await gate.waitFor();
    await scene.fleet.cancel(id, "found by polling");
    await expect(scene.fleet.result(id)).rejects.toThrow("found by polling");
    await stop();
    await scene.fleet.close();
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});
