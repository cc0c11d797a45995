import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  collectWarnings,
  createLoop,
  fleetDatabases,
  listRuns,
  openTestFleet,
  type TestFleet,
} from "../../tests/support/fleet/fleet-fixture.ts";
import { InvalidOptionError } from "../base/errors.ts";

describe.each(fleetDatabases)("schedules on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("of requests", () => {
    let scene: TestFleet;
    beforeAll(async () => {
      scene = await openTestFleet(kind);
    });
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    test("are listed, replaced by name, and removed", async () => {
      const { fleet } = scene;
      const loop = createLoop({ version: "2" });
      expect(await fleet.schedules()).toEqual([]);
      await fleet.unschedule("unknown"); // does nothing
      await fleet.schedule(loop, "0 3 * * *", { n: 1 });
      await fleet.schedule(loop, "0 4 * * *", { n: 2 }, { tz: "Europe/Berlin" });
      await fleet.schedule(loop, "0 5 * * *", { n: 3 }, { name: "other", priority: 1, group: "g" });
      const about = { loop: loop.name, version: "2" };
      const schedules = await fleet.schedules();
      expect(schedules.toSorted((a, b) => a.cron.localeCompare(b.cron))).toEqual([
        { ...about, name: loop.name, cron: "0 4 * * *", tz: "Europe/Berlin", request: { n: 2 } },
        { ...about, name: "other", cron: "0 5 * * *", tz: "UTC", request: { n: 3 } },
      ]);
      await fleet.unschedule(loop.name);
      await fleet.unschedule("other");
      expect(await fleet.schedules()).toEqual([]);
    });

    test("enqueue a run for the time that is due, with its group and priority", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop({ limits: { deadlineMs: 600_000 } });
      await fleet.schedule(loop, "* * * * *", { n: 7 }, { name: "often", priority: 3, group: "g" });
      const { stop } = work([loop]);
      await expect.poll(async () => (await listRuns(fleet, { loop: loop.name })).length).toBe(1);
      const [run] = await listRuns(fleet, { loop: loop.name });
      expect(run).toMatchObject({ group: "g", request: { n: 7 }, version: "1" });
      expect(run?.key).toMatch(/^schedule often at \d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
      expect(run?.deadline).not.toBeNull();
      expect(await query("select priority from wink.run where id = $1", [run?.id])).toEqual([
        { priority: 3 },
      ]);
      expect(await fleet.result(run?.id ?? "")).toBe("done");
      await fleet.unschedule("often");
      await stop();
    });

    test("of another program are not listed, and their occurrences are skipped with a warning", async () => {
      const { fleet, work, query } = scene;
      const warnings = collectWarnings();
      const loop = createLoop();
      await fleet.schedule(loop, "0 3 * * *", { n: 1 });
      await query(`update boss.schedule set data = '{"loop":1}'`);
      expect(await fleet.schedules()).toEqual([]);
      await query(
        `insert into boss.job (name, data, heartbeat_seconds) values ('_schedules', '{"cron":"* * * * *"}', 10),
         ('_schedules', '[1]', 10)`,
      );
      const { stop } = work([loop]);
      const skipped = "A schedule was skipped: Its request is damaged. Schedule it again.";
      await expect.poll(() => warnings).toEqual([skipped, skipped]);
      await stop();
      expect(
        await query("select 1 from boss.job where name = '_schedules' and state < 'completed'"),
      ).toEqual([]);
      await fleet.unschedule(loop.name);
    });

    test("are enqueued by another worker if the worker with the occurrence was lost", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop();
      await fleet.schedule(loop, "0 3 * * *", { n: 1 }, { name: "lost" });
      await query(
        `insert into boss.job (name, data, heartbeat_seconds, heartbeat_on, state, started_on, retry_limit)
         select '_schedules', data, 10, now() - interval '1 minute', 'active', now() - interval '1 minute', 10
         from boss.schedule where key = 'lost'`,
      );
      const { stop } = work([loop]);
      await expect.poll(async () => (await listRuns(fleet, { loop: loop.name })).length).toBe(1);
      await fleet.unschedule("lost");
      await stop();
    });

    test("are enqueued although another due schedule cannot be", async () => {
      const { fleet, work, query } = scene;
      const warnings = collectWarnings();
      const loop = createLoop();
      await query(
        `insert into boss.job (name, data, heartbeat_seconds, priority) values
         ('_schedules', '{"name":"bad","loop":"a b","version":"1","cron":"* * * * *","timezone":"UTC"}', 10, 1),
         ('_schedules', $1, 10, 0)`,
        [{ name: "good", loop: loop.name, version: "1", request: { n: 1 } }],
      );
      const { stop } = work([loop]);
      await expect.poll(async () => (await listRuns(fleet, { loop: loop.name })).length).toBe(1);
      expect(warnings).toEqual([
        expect.stringContaining("A fleet's worker could not enqueue schedules: "),
      ]);
      await stop();
      await query("delete from boss.job where name = '_schedules'");
    });

    test.each([
      [
        "61 * * * *",
        {},
        "Fleet.schedule(cron) must be a cron expression and a time zone (",
        ' got "61 * * * * UTC"',
      ],
      [
        "0 3 * * *",
        { tz: "Europe/Berln" },
        "Fleet.schedule(cron) must be a cron expression and a time zone (",
        'Europe/Berln"',
      ],
      ["0 3 * * *", { tz: "" }, "Fleet.schedule(tz) must be text", '""'],
      ["", {}, "Fleet.schedule(cron) must be text", '""'],
      [5, {}, "Fleet.schedule(cron) must be text", "5"],
      [
        "0 3 * * *",
        { name: "a b" },
        "Fleet.schedule(name) must be 1-100 letters, digits, _ . and -",
        '"a b"',
      ],
      [
        "0 3 * * *",
        { priority: 0.5 },
        "Fleet.schedule(priority) must be an integer of 32 bits",
        "0.5",
      ],
      [
        "0 3 * * *",
        { group: "" },
        "Fleet.schedule(group) must be 1-200 characters without NUL",
        '""',
      ],
    ])("refuses %j with the options %j", async (cron, options, message, value) => {
      const scheduling = scene.fleet.schedule(createLoop(), cron as string, { n: 1 }, options);
      await expect(scheduling).rejects.toThrow(InvalidOptionError);
      await expect(scheduling).rejects.toThrow(message);
      await expect(scheduling).rejects.toThrow(value);
    });

    test("refuse a request that does not match the loop's schema", async () => {
      const scheduling = scene.fleet.schedule(createLoop(), "0 3 * * *", { n: "1" } as never);
      await expect(scheduling).rejects.toThrow("request must match the schema of the loop");
      expect(await scene.fleet.schedules()).toEqual([]);
    });
  });
});

test("schedules that another program has damaged are not listed, and a missing table is no wrong expression", async () => {
  await using scene = await openTestFleet("folder");
  const { fleet } = scene;
  const loop = createLoop();
  await fleet.schedule(loop, "0 3 * * *", { n: 1 });
  await scene.query("update boss.schedule set data = '7'");
  expect(await fleet.schedules()).toEqual([]);
  await scene.query("alter table boss.schedule rename to gone");
  const failure = await fleet.schedule(loop, "0 3 * * *", { n: 1 }).catch((error) => error);
  expect(failure).not.toBeInstanceOf(InvalidOptionError);
  expect(failure.message).toContain("schedule");
});
