import { expect, test } from "vitest";
import {
  createLoop,
  fleetDatabases,
  openTestFleet,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import { Tool, ToolResult } from "../../index.ts";
import type { WorkerEvent } from "./worker-event.ts";

const charge = new Tool({
  name: "charge",
  description: "Charges.",
  params: null,
  needsApproval: true,
  handler: async () => ToolResult.ok("charged"),
});

for (const [name, kind, isAvailable] of fleetDatabases) {
  test.skipIf(!isAvailable)(
    `onEvent receives the starts and ends of a worker and its runs, on ${name}`,
    async () => {
      await using opened = await openTestFleet(kind);
      const { fleet, work } = opened;
      const events: WorkerEvent[] = [];
      const done = createLoop({ name: "done" });
      const parked = createLoop({
        name: "parked",
        tools: [charge],
        model: { toolCalls: [{ name: "charge", arguments: {} }] },
      });
      const unstable = createLoop({
        name: "unstable",
        prepare: () => {
          throw new TypeError("not yet");
        },
      });
      const loops = [done, parked, unstable];
      const started = work(loops, { concurrency: 3, onEvent: (event) => void events.push(event) });
      const ids = new Map<string, string>();
      for (const loop of loops) ids.set(loop.name, (await fleet.enqueue(loop, { n: 1 })).id);
      await expect.poll(() => events.filter(({ type }) => type === "RunEnded").length).toBe(3);
      const { id } = started.worker.health();
      await started.stop();
      const stamp = { worker: id, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) };
      expect(events[0]).toEqual({
        ...{ type: "WorkerStarted", ...stamp, concurrency: 3 },
        loops: ["done/1", "parked/1", "unstable/1"],
      });
      expect(events.at(-1)).toEqual({ type: "WorkerDraining", ...stamp, running: 0 });
      const listRun = (loop: string) =>
        events.filter((event) => "loop" in event && event.loop === loop);
      const common = (loop: string) => ({ ...stamp, loop, runId: ids.get(loop), attempt: 1 });
      const ended = { type: "RunEnded", delayMs: null, approvals: [], error: null };
      const durationMs = expect.any(Number);
      const usage = expect.objectContaining({ totalTokens: expect.any(Number) });
      expect(listRun("done")).toEqual([
        { type: "RunStarted", ...common("done") },
        { ...ended, ...common("done"), durationMs, outcome: "done", usage },
      ]);
      expect(listRun("parked")[1]).toMatchObject({
        ...{ ...ended, ...common("parked"), outcome: "parked" },
        approvals: [{ name: "charge", key: `${ids.get("parked")}:1:call_1_1` }],
      });
      const error = { name: "TypeError", message: "not yet" };
      expect(listRun("unstable")[1]).toEqual({
        ...{ ...ended, ...common("unstable"), durationMs, usage: null },
        ...{ outcome: "retry", delayMs: 5_000, error },
      });
    },
  );
}

test("a run that is given back, and one whose worker has lost it, are reported as such", async () => {
  await using opened = await openTestFleet("folder");
  const { fleet, work, query } = opened;
  const outcomes: string[] = [];
  const slow = createLoop({
    name: "slow",
    model: ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  });
  const onEvent = (event: WorkerEvent) => {
    if (event.type === "RunEnded") outcomes.push(event.outcome);
  };
  const isRunning = async (id: string) => (await fleet.find(id))?.state === "running";
  const first = await fleet.enqueue(slow, { n: 1 });
  const started = work([slow], { onEvent, graceMs: 8_000 });
  await expect.poll(() => isRunning(first.id)).toBe(true);
  await started.stop();
  expect(outcomes).toEqual(["given-back"]);
  await fleet.cancel(first.id);
  const second = await fleet.enqueue(slow, { n: 2 });
  const other = work([slow], { onEvent });
  await expect.poll(() => isRunning(second.id)).toBe(true);
  await query("update wink.run set fence = fence + 1 where id = $1", [second.id]); // as another attempt would
  await fleet.cancel(second.id);
  await expect.poll(() => outcomes).toEqual(["given-back", "lost"]);
  await other.stop();
});

test("errors of onEvent are warnings, and the worker continues", async () => {
  await using opened = await openTestFleet("folder");
  const { fleet, work } = opened;
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on("warning", onWarning);
  const loop = createLoop();
  const { id } = await fleet.enqueue(loop, { n: 1 });
  const onEvent = ({ type }: WorkerEvent): undefined => {
    if (type === "WorkerStarted") throw new Error("thrown");
    if (type === "RunStarted") return Promise.reject(new Error("rejected")) as never;
  };
  const started = work([loop], { onEvent });
  expect(await fleet.result(id)).toBe("done");
  await started.stop();
  const prefix = "onEvent of a fleet's worker failed:";
  await expect.poll(() => warnings).toEqual([`${prefix} thrown`, `${prefix} rejected`]);
  process.off("warning", onWarning);
  const refused = { onEvent: "log" as never };
  expect(() => fleet.worker([loop], refused)).toThrow("Fleet.worker(onEvent) must be a function");
});
