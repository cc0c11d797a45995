import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { collectWarnings, createLoop } from "../../../tests/support/fleet/fleet-fixture.ts";
import type { FleetConnection, FleetDatabase } from "../database/fleet-database.ts";
import type { FleetParts } from "../fleet-parts.ts";
import { closeFleet, openFleet } from "../open-fleet.ts";
import { FleetWorker } from "./fleet-worker.ts";

/** Opens the parts of a fleet in a folder. */
async function openParts(): Promise<FleetParts> {
  const folder = await mkdtemp(join(tmpdir(), "wink-presence-"));
  const parts = await openFleet({ folder: join(folder, "fleet") });
  onTestFinished(async () => {
    await closeFleet(parts);
    await rm(folder, { recursive: true, force: true });
  });
  return parts;
}

/** Returns the same object with other members. The methods of the object itself keep their `this`. */
function withMembers<Subject extends object>(subject: Subject, members: Partial<Subject>): Subject {
  return new Proxy(subject, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A database that provides lasting connections, which a test can end. */
function createSharedDatabase(
  database: FleetDatabase,
  query: FleetConnection["query"] = (text, params) => database.query(text, params),
) {
  const connections: (() => void)[] = [];
  const connect = async (): Promise<FleetConnection> => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    connections.push(resolve);
    return { ended, query, listen: async () => {}, close: async () => resolve() };
  };
  return { connections, shared: withMembers(database, { isShared: true, connect }) };
}

/** Runs a worker until the test has finished. */
async function work(parts: FleetParts): Promise<FleetWorker> {
  const worker = new FleetWorker(parts, [createLoop()]);
  const working = worker.run();
  onTestFinished(async () => {
    await worker.stop();
    await working;
  });
  await expect.poll(() => worker.health().seenAt).not.toBeNull();
  return worker;
}

test("a worker that has lost its lock reports at once, and again when it has the lock", async () => {
  const parts = await openParts();
  const { connections, shared } = createSharedDatabase(parts.database);
  let reports = 0;
  const workers = withMembers(parts.workers, {
    async report(sql, id) {
      reports += 1;
      return await parts.workers.report(sql, id);
    },
  });
  await work({ ...parts, database: shared, workers });
  await expect.poll(() => reports).toBeGreaterThan(0);
  const before = reports;
  connections[0]?.();
  // Without the loss, the next report comes 2.5 seconds after the last one, and the second after 5 seconds.
  await expect.poll(() => reports, { timeout: 4_000 }).toBeGreaterThanOrEqual(before + 2);
  expect(connections).toHaveLength(2);
});

test("a worker gives its lock up, with one warning, if its connection leads to a pooler in transaction mode", async () => {
  const parts = await openParts();
  const warnings = collectWarnings();
  const { connections, shared } = createSharedDatabase(parts.database, (text, params) =>
    text.includes("pg_locks") // another connection of the pooler answers
      ? Promise.resolve({ rows: [] })
      : parts.database.query(text, params),
  );
  const worker = await work({ ...parts, database: shared });
  const read = async () =>
    (await parts.database.query('select has_presence from "wink".worker where gone_at is null'))
      .rows;
  await expect.poll(read).toEqual([{ has_presence: false }]);
  await parts.runs.notify(parts.database, { type: "drain" }); // makes it report again
  const { seenAt } = worker.health();
  await expect.poll(() => worker.health().seenAt).not.toBe(seenAt);
  await expect.poll(() => warnings.length).toBe(1);
  expect(warnings[0]).toContain("seems to be a pooler in transaction mode");
  expect(connections).toHaveLength(1);
});

test("a worker keeps its lock if its connection has it", async () => {
  const parts = await openParts();
  const warnings = collectWarnings();
  let checks = 0;
  const { shared } = createSharedDatabase(parts.database, async (text, params) => {
    const result = await parts.database.query(text, params);
    if (text.includes("pg_locks")) checks += result.rows.length;
    return result;
  });
  await work({ ...parts, database: shared });
  await expect.poll(() => checks).toBeGreaterThan(0);
  expect(warnings).toEqual([]);
});

test("a fleet knows only the workers that run", async () => {
  const parts = await openParts();
  const worker = new FleetWorker(parts, [createLoop()]);
  expect(parts.running.size).toBe(0);
  const working = worker.run();
  expect([...parts.running]).toEqual([worker]);
  await worker.stop();
  await working;
  expect(parts.running.size).toBe(0);
});
