import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createLoop,
  createTool,
  findRun,
  fleetDatabases,
  Gate,
  listRuns,
  openTestFleet,
  type TestFleet,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import type { TurnRequest } from "../../adapter/model-client.ts";

/** Calls the tool `wait` in the first turns, then answers. */
const callFor = (turns: number) => (request: TurnRequest) =>
  request.turn <= turns ? { toolCalls: [{ name: "wait" }] } : { text: `after ${request.turn}` };

describe.each(fleetDatabases)("a worker on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("runs requests", () => {
    let scene: TestFleet;
    beforeAll(async () => {
      scene = await openTestFleet(kind);
    });
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    test("runs as many requests at once as its concurrency, and then the others", async () => {
      const { fleet, work } = scene;
      const gate = new Gate();
      const loop = createLoop({
        tools: [createTool("wait", () => gate.pass())],
        model: callFor(1),
      });
      const runs = await Promise.all([1, 2, 3, 4, 5].map((n) => fleet.enqueue(loop, { n })));
      const { worker, stop } = work([loop], { concurrency: 3 });
      await gate.waitFor(3);
      expect(worker.health()).toMatchObject({ state: "running", running: 3, concurrency: 3 });
      expect(await listRuns(fleet, { loop: loop.name, state: "running" })).toHaveLength(3);
      gate.open();
      const results = await Promise.all(runs.map(({ id }) => fleet.result(id)));
      expect(results).toEqual(Array(5).fill("after 2"));
      await stop();
    });

    test("runs the requests of several loops, and only of the versions it has", async () => {
      const { fleet, work } = scene;
      const [first, second] = [createLoop(), createLoop({ model: { text: "second" } })];
      const newer = createLoop({ name: first.name, version: "2" });
      const { stop } = work([first, second]);
      const waiting = await fleet.enqueue(newer, { n: 1 });
      const [a, b] = [await fleet.enqueue(first, { n: 1 }), await fleet.enqueue(second, { n: 2 })];
      expect([await fleet.result(a.id), await fleet.result(b.id)]).toEqual(["done", "second"]);
      expect(await findRun(fleet, waiting.id)).toMatchObject({ state: "waiting", version: "2" });
      await stop();
      const { stop: stopNewer } = work([newer]);
      expect(await fleet.result(waiting.id)).toBe("done");
      await stopNewer();
    });

    test("reports its health and its row before, during and after it runs", async () => {
      const { fleet, work } = scene;
      const loop = createLoop();
      const idle = fleet.worker([loop]);
      expect(idle.health()).toEqual({
        ...{ state: "idle", id: null, running: 0, concurrency: 4, seenAt: null },
      });
      const { worker, stop } = work([loop], { concurrency: 2 });
      await expect.poll(() => worker.health().seenAt).not.toBeNull();
      const { id } = worker.health();
      expect(await fleet.workers()).toMatchObject([
        { id, pid: process.pid, loops: [`${loop.name}/1`], concurrency: 2, isDraining: false },
      ]);
      await expect(worker.run()).rejects.toThrow("The worker is running. Create another one.");
      await stop();
      expect(worker.health()).toMatchObject({ state: "idle", id: null });
      expect(await fleet.workers()).toEqual([]);
    });

    test("runs requests again after it was stopped and started again", async () => {
      const { fleet } = scene;
      const loop = createLoop({ tools: [createTool("wait")], model: callFor(2) });
      const worker = fleet.worker([loop], { graceMs: 5_000 });
      for (const n of [1, 2]) {
        const stop = new AbortController();
        const ended = worker.run({ signal: stop.signal });
        const { id } = await fleet.enqueue(loop, { n });
        expect(await fleet.result(id)).toBe("after 3");
        expect(await findRun(fleet, id)).toMatchObject({ attempt: 1 });
        stop.abort();
        await ended;
      }
    });

    test("ends at once if its signal has aborted before it starts", async () => {
      const { fleet } = scene;
      const loop = createLoop();
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await fleet.worker([loop]).run({ signal: AbortSignal.abort() });
      expect(await findRun(fleet, id)).toMatchObject({ state: "waiting", attempt: 0 });
    });

    test("gives its runs back at the next barrier when it drains, which does not count", async () => {
      const { fleet, work } = scene;
      const gate = new Gate();
      const loop = createLoop({
        tools: [createTool("wait", () => gate.pass())],
        model: callFor(2),
      });
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { worker } = work([loop]);
      await gate.waitFor();
      expect(await fleet.drain(worker.health().id ?? 0)).toBe(1);
      await expect.poll(() => worker.health().state).toBe("draining");
      expect(await fleet.workers()).toMatchObject([{ isDraining: true, running: 1 }]);
      gate.open();
      await expect.poll(() => worker.health().state).toBe("idle");
      expect(await findRun(fleet, id)).toMatchObject({ state: "waiting", attempt: 1, stuck: 0 });
      expect(gate.arrived).toBe(1); // the call was answered before the run was given back
      const { stop } = work([loop]);
      expect(await fleet.result(id)).toBe("after 3");
      expect(await findRun(fleet, id)).toMatchObject({ attempt: 2, lost: 0 });
      await stop();
    });

    test("drains all workers if none is named, and none that does not exist", async () => {
      const { fleet, work } = scene;
      const workers = [work([createLoop()]), work([createLoop()])];
      await expect.poll(() => fleet.workers()).toHaveLength(2);
      expect(await fleet.drain(1_000_000)).toBe(0);
      expect(await fleet.drain()).toBe(2);
      await expect
        .poll(() => workers.map(({ worker }) => worker.health().state))
        .toEqual(["idle", "idle"]);
    });

    test("aborts the runs that have not stopped shortly before the end of graceMs", async () => {
      const { fleet, work } = scene;
      const gate = new Gate();
      const loop = createLoop({
        tools: [createTool("wait", ({ signal }) => gate.pass(signal))],
        model: callFor(1),
      });
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { stop } = work([loop], { graceMs: 400 });
      await gate.waitFor();
      await stop();
      expect(await findRun(fleet, id)).toMatchObject({ state: "waiting", worker: null, lost: 0 });
      gate.open();
      const { stop: stopSecond } = work([loop]);
      expect(await fleet.result(id)).toBe("after 2");
      await stopSecond();
    });

    test("ends after graceMs even if finalize ignores its signal, and the run continues elsewhere", async () => {
      const { fleet, work } = scene;
      const gate = new Gate();
      const loop = createLoop({
        finalize: async (output, { session }) => {
          if (gate.arrived === 0) await gate.pass();
          return `${output} by ${session.id}`;
        },
      });
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { stop } = work([loop], { graceMs: 200 });
      await gate.waitFor();
      await stop();
      expect(await findRun(fleet, id)).toMatchObject({ state: "waiting", worker: null, lost: 1 });
      const { stop: stopSecond } = work([loop]);
      expect(await fleet.result(id)).toBe(`done by ${id}`);
      expect(await findRun(fleet, id)).toMatchObject({ attempt: 2, lost: 1 });
      gate.open();
      await stopSecond();
    });

    test.each([
      ["loops", [], {}, "Fleet.worker(loops) must be a list of at least one AgentLoop, got []"],
      ["loops", null, {}, "Fleet.worker(loops) must be a list of at least one AgentLoop, got null"],
      ["loops", [{}], {}, "Fleet.worker(loops) must be AgentLoops"],
      [
        "concurrency",
        null,
        { concurrency: 0 },
        "Fleet.worker(concurrency) must be an integer from 1",
      ],
      ["perGroup", null, { perGroup: 1.5 }, "Fleet.worker(perGroup) must be an integer from 1 to"],
      ["graceMs", null, { graceMs: 2 ** 31 }, "Fleet.worker(graceMs) must be an integer from 1 to"],
    ])("refuses wrong %s: %j %j", (name, loops, options, message) => {
      const used = name === "loops" ? loops : [createLoop()];
      expect(() => scene.fleet.worker(used as never, options)).toThrow(message);
    });

    test("refuses two loops with the same name and version", () => {
      const loop = createLoop({ name: "twice" });
      const message =
        'Fleet.worker(loops) must not have the same name and version twice, got "twice/1"';
      expect(() => scene.fleet.worker([loop, createLoop({ name: "twice" })])).toThrow(message);
    });
  });
});
