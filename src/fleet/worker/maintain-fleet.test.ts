import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createLoop,
  findRun,
  fleetDatabases,
  openTestFleet,
  type TestFleet,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import { RunCancelledError } from "../errors/run-cancelled-error.ts";

describe.each(fleetDatabases)("a worker on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("that cleans up", () => {
    let scene: TestFleet;
    beforeAll(async () => {
      scene = await openTestFleet(kind, { keepDoneDays: 7 });
    });
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    test("deletes runs that ended long ago with their sessions, and workers that are silent or long gone", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop();
      const first = work([loop]);
      const runs = [];
      for (const n of [1, 2, 3, 4]) {
        const { id } = await fleet.enqueue(loop, { n }, { key: `${n}` });
        await fleet.result(id);
        runs.push(id);
      }
      await first.stop();
      const [old, cancelled, deadLettered, recent] = runs;
      const age =
        "update wink.run set ended_at = now() - interval '8 days', state = $2 where id = $1";
      await query(age, [old, "done"]);
      await query(age, [cancelled, "cancelled"]);
      await query(age, [deadLettered, "dead-lettered"]);
      await query(
        `insert into wink.worker (host, pid, loops, concurrency, seen_at, gone_at)
         values ('silent', 1, 'l', 1, now() - interval '2 hours', null),
           ('gone', 1, 'l', 1, now() - interval '8 days', now() - interval '8 days')`,
      );
      const { stop } = work([loop]); // cleans up when it starts
      await expect.poll(() => fleet.find(cancelled ?? "")).toBeNull();
      expect(await fleet.find(old ?? "")).toBeNull();
      expect(await findRun(fleet, deadLettered ?? "")).toMatchObject({ state: "dead-lettered" });
      expect(await findRun(fleet, recent ?? "")).toMatchObject({ state: "done" });
      const sessions = await query("select id from wink.session order by id");
      expect(sessions.map(({ id }) => id)).toEqual([deadLettered, recent].toSorted());
      await expect.poll(() => query("select 1 from wink.worker where host = 'gone'")).toEqual([]);
      expect((await fleet.workers()).map(({ host }) => host)).not.toContain("silent");
      expect((await fleet.enqueue(loop, { n: 1 }, { key: "1" })).isNew).toBe(true);
      await stop();
    });

    test("continues the runs of workers that were silent for an hour, and ends those that were cancelled", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop();
      const [silent] = await query(
        `insert into wink.worker (host, pid, loops, concurrency, seen_at)
         values ('silent', 1, 'l', 1, now() - interval '2 hours') returning id`,
      );
      const { id: cancelled } = await fleet.enqueue(loop, { n: 1 });
      const { id: left } = await fleet.enqueue(loop, { n: 2 });
      await query("update wink.run set state = 'running', worker = $1 where loop = $2", [
        ...[silent?.["id"], loop.name],
      ]);
      await fleet.cancel(cancelled, "superseded");
      expect(await findRun(fleet, cancelled)).toMatchObject({ state: "running" });
      const other = work([createLoop()]); // does not run the loop
      await expect(fleet.result(cancelled)).rejects.toThrow(RunCancelledError);
      expect(await findRun(fleet, cancelled)).toMatchObject({ worker: null, lost: 1 });
      expect(await findRun(fleet, left)).toMatchObject({ state: "waiting", lost: 1 });
      expect(
        await query("select 1 from boss.job where data ->> 'runId' = $1", [cancelled]),
      ).toEqual([]);
      await other.stop();
      const { stop } = work([loop]);
      expect(await fleet.result(left)).toBe("done");
      await stop();
    });
  });
});
