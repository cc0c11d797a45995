import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLoop } from "../../../tests/support/fleet/fleet-fixture.ts";
import { enqueueRun } from "../enqueue-run.ts";
import type { FleetParts } from "../fleet-parts.ts";
import { closeFleet, openFleet } from "../open-fleet.ts";
import { FleetWorker } from "./fleet-worker.ts";

/** Opens the parts of a fleet in a folder. */
async function openParts(): Promise<FleetParts> {
  const folder = await mkdtemp(join(tmpdir(), "wink-worker-"));
  const parts = await openFleet({ folder: join(folder, "fleet") });
  onTestFinished(async () => {
    await closeFleet(parts);
    await rm(folder, { recursive: true, force: true });
  });
  return parts;
}

/** Returns the same object with other methods, whose `this` is still the object. */
function replaceMethods<Subject extends object>(subject: Subject, methods: Partial<Subject>) {
  return new Proxy(subject, {
    get(target, name) {
      const value = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function enqueue(parts: FleetParts, loop: { name: string; version: string }, n: number) {
  const requested = { loop: loop.name, version: loop.version, deadlineMs: undefined };
  const given = { ...requested, request: { n } };
  return (await enqueueRun({ ...parts, maxWaiting: undefined }, given, {})).id;
}

test("a worker works although the scheduler cannot start yet", async () => {
  const parts = await openParts();
  const emitted = vi.spyOn(process, "emitWarning").mockReturnValue();
  onTestFinished(() => emitted.mockRestore());
  const rejected = vi.fn();
  process.on("unhandledRejection", rejected);
  onTestFinished(() => void process.off("unhandledRejection", rejected));
  const startScheduler = async () => {
    throw new Error("the database restarts");
  };
  const dispatch = replaceMethods(parts.dispatch, { startScheduler });
  const loop = createLoop();
  const worker = new FleetWorker({ ...parts, dispatch }, [loop]);
  const stop = new AbortController();
  const working = worker.run({ signal: stop.signal });
  const id = await enqueue(parts, loop, 1);
  await expect.poll(async () => (await parts.runs.find(parts.database, id))?.state).toBe("done");
  stop.abort();
  await working;
  expect(emitted.mock.calls.join()).toContain("could not enqueue schedules");
  expect(rejected).not.toHaveBeenCalled();
});

test("a worker that was declared gone registers once, although several reports notice it", async () => {
  const parts = await openParts();
  const loop = createLoop();
  const worker = new FleetWorker(parts, [loop]);
  const stop = new AbortController();
  const working = worker.run({ signal: stop.signal });
  await expect.poll(() => worker.health().seenAt).not.toBeNull();
  const { id: first } = worker.health();
  await parts.workers.declareAllGone(parts.database);
  for (let n = 0; n < 5; n++) await parts.runs.notify(parts.database, { type: "drain" });
  await expect.poll(() => worker.health().id).not.toBe(first);
  stop.abort();
  await working;
  const { rows } = await parts.database.query('select count(*)::int as count from "wink".worker');
  expect(rows).toEqual([{ count: 2 }]);
});

test("a worker waits for the other claims if one fails, so that it does not end before their runs", async () => {
  const parts = await openParts();
  const emitted = vi.spyOn(process, "emitWarning").mockReturnValue();
  onTestFinished(() => emitted.mockRestore());
  const loop = createLoop();
  const [broken, slow] = [await enqueue(parts, loop, 1), await enqueue(parts, loop, 2)];
  const gate = Promise.withResolvers<void>();
  const claiming = Promise.withResolvers<void>();
  const onMoment: FleetParts["onMoment"] = async (moment, runId) => {
    if (moment !== "job-fetched") return;
    if (runId === broken) throw new Error("the database restarts");
    claiming.resolve();
    await gate.promise;
  };
  const worker = new FleetWorker({ ...parts, onMoment }, [loop]);
  const stop = new AbortController();
  const working = worker.run({ signal: stop.signal });
  await claiming.promise;
  stop.abort();
  gate.resolve();
  await working;
  const readState = async (id: string) => (await parts.runs.find(parts.database, id))?.state;
  expect([await readState(broken), await readState(slow)]).toEqual(["waiting", "waiting"]);
  expect(worker.health()).toMatchObject({ running: 0 });
});
