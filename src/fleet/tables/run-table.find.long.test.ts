import { expect, test } from "vitest";
import {
  createLoop,
  fleetDatabases,
  openTestFleet,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import { RunTable } from "./run-table.ts";

for (const [name, kind, isAvailable] of fleetDatabases) {
  test.skipIf(!isAvailable)(
    `finds runs by the start of their ids, and counts them by state, on ${name}`,
    async () => {
      await using opened = await openTestFleet(kind);
      const { fleet, options, query } = opened;
      const loop = createLoop({ name: "a" });
      const enqueue = async (id: string, group?: string) => {
        const run = await fleet.enqueue(loop, { n: 1 }, { group, key: id });
        await query("update wink.run set id = $2 where id = $1", [run.id, id]);
      };
      const ids = ["abcd0000", "abcd1111", "abce0000"].map(
        (start) => `${start}-0000-4000-8000-000000000000`,
      );
      for (const [index, id] of ids.entries()) await enqueue(id, index === 0 ? "team" : undefined);
      await query("update wink.run set state = 'done', ended_at = now() where id = $1", [ids[2]]);
      const table = new RunTable(options.schema ?? "");
      const find = async (prefix: string, limit = 10) =>
        await fleet.transact(async (sql) => {
          return (await table.findByPrefix(sql, prefix, limit)).map(({ id }) => id);
        });
      expect(await find("abc")).toEqual(ids);
      expect(await find("ABCD")).toEqual(ids.slice(0, 2));
      expect(await find("abc", 1)).toEqual(ids.slice(0, 1));
      expect(await find("abcd1111-0")).toEqual([ids[1]]);
      expect(await find(ids[2] ?? "")).toEqual([ids[2]]);
      expect(await find("abcf")).toEqual([]);
      expect(await find("")).toEqual([]);
      expect(await find("x'; drop")).toEqual([]);
      expect(await find("a".repeat(33))).toEqual([]);
      const count = (filter: Parameters<RunTable["countByState"]>[1]) =>
        fleet.transact((sql) => table.countByState(sql, filter));
      expect(new Map(await count({}))).toEqual(
        new Map([
          ["waiting", 2],
          ["done", 1],
        ]),
      );
      expect(new Map(await count({ loop: "a", group: "team" }))).toEqual(new Map([["waiting", 1]]));
      expect(new Map(await count({ key: ids[2] }))).toEqual(new Map([["done", 1]]));
      expect(new Map(await count({ loop: "b" }))).toEqual(new Map());
    },
  );
}

test("follow yields the stored events of a run that has not ended, if it does not wait", async () => {
  await using opened = await openTestFleet("folder");
  const { fleet, work } = opened;
  const loop = createLoop({
    prepare: () => {
      throw new Error("not yet");
    },
  });
  const { id } = await fleet.enqueue(loop, { n: 1 });
  for await (const event of fleet.follow(id, { wait: false })) expect(event).toBe(null);
  const started = work([loop]);
  await expect.poll(async () => (await fleet.find(id))?.error?.message).toBe("not yet");
  await started.stop();
  for await (const event of fleet.follow(id, { wait: false })) expect(event).toBe(null);
  expect((await fleet.find(id))?.state).toBe("waiting");
});
