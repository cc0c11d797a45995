import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import {
  collectWarnings,
  createLoop,
  createTool,
  findRun,
  fleetDatabases,
  Gate,
  listRuns,
  openTestFleet,
  type TestFleet,
} from "../../tests/support/fleet/fleet-fixture.ts";
import type { TurnRequest } from "../adapter/model-client.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { definePrompt } from "../prompt/define-prompt.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { FleetFullError } from "./errors/fleet-full-error.ts";
import { FleetError } from "./fleet-error.ts";
import { AgentLoop } from "./loop/agent-loop.ts";

describe.each(fleetDatabases)("enqueue on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("stores a request", () => {
    let scene: TestFleet;
    beforeAll(async () => {
      scene = await openTestFleet(kind, { maxWaiting: 20 });
    });
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    test("with its defaults, and returns its id", async () => {
      const { fleet } = scene;
      const loop = createLoop();
      const run = await fleet.enqueue(loop, { n: 1 });
      expect(run).toEqual({ id: expect.any(String), loop: loop.name, isNew: true });
      expect(await findRun(fleet, run.id)).toEqual({
        ...{ id: run.id, loop: loop.name, version: "1", key: null, group: null, request: { n: 1 } },
        ...{ state: "waiting", attempt: 0, stuck: 0, lost: 0, worker: null, approvals: [] },
        ...{ usage: null, error: null, cancelReason: null, notBefore: null, deadline: null },
        ...{ createdAt: expect.stringMatching(/^\d{4}-.*Z$/), endedAt: null },
      });
    });

    test("once for each key of a loop, even if ten are enqueued at once", async () => {
      const { fleet } = scene;
      const warnings = collectWarnings();
      const [loop, other] = [createLoop(), createLoop()];
      const runs = await Promise.all(
        Array.from({ length: 10 }, () => fleet.enqueue(loop, { n: 1 }, { key: "k" })),
      );
      expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
      expect(runs.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect((await fleet.enqueue(other, { n: 1 }, { key: "k" })).isNew).toBe(true);
      expect(await listRuns(fleet, { key: "k" })).toHaveLength(2);
      expect(warnings).toEqual([]);
    });

    test("and warns if another request has the same key, which is not run", async () => {
      const { fleet } = scene;
      const warnings = collectWarnings();
      const loop = createLoop();
      const { id } = await fleet.enqueue(loop, { n: 1 }, { key: "k" });
      const second = await fleet.enqueue(loop, { n: 2 }, { key: "k" });
      expect(second).toEqual({ id, loop: loop.name, isNew: false });
      expect((await findRun(fleet, id)).request).toEqual({ n: 1 });
      await expect
        .poll(() => warnings)
        .toEqual([
          `The key "k" belongs to run ${id}, whose request is different. The new request is not run. ` +
            "Use another key for another request.",
        ]);
    });

    test("and runs those with a higher priority first, and equal ones in order", async () => {
      const { fleet, work } = scene;
      const order: number[] = [];
      const loop = createLoop({
        finalize: (output, { session }) => `${output} ${session.id}`,
        prepare: ({ n }) => {
          order.push(n);
          return definePrompt({ name: "task", instructions: "Do it." });
        },
      });
      const runs = [];
      for (const [n, priority] of [
        [1, 0],
        [2, 5],
        [3, -5],
        [4, 5],
        [5, undefined],
      ] as const) {
        runs.push(await fleet.enqueue(loop, { n }, { priority }));
      }
      const { stop } = work([loop], { concurrency: 1 });
      for (const { id } of runs) expect(await fleet.result(id)).toBe(`done ${id}`);
      expect(order).toEqual([2, 4, 1, 5, 3]);
      await stop();
    });

    test("and runs at most perGroup of a group at once", async () => {
      const { fleet, work } = scene;
      const gate = new Gate();
      const loop = createLoop({
        tools: [createTool("wait", () => gate.pass())],
        model: ({ turn }: TurnRequest) =>
          turn === 1 ? { toolCalls: [{ name: "wait" }] } : { text: "done" },
      });
      const options = ["a", "a", "a", "b", undefined].map((group) => ({ group }));
      const runs = [];
      for (const [n, option] of options.entries())
        runs.push(await fleet.enqueue(loop, { n }, option));
      const { stop } = work([loop], { concurrency: 10, perGroup: 1 });
      await gate.waitFor(3);
      const running = await listRuns(fleet, { loop: loop.name, state: "running" });
      expect(running.map(({ group }) => group).toSorted()).toEqual(["a", "b", null]);
      gate.open();
      for (const { id } of runs) expect(await fleet.result(id)).toBe("done");
      await stop();
    });

    test("and does not run it before its time, from which the deadline counts", async () => {
      const { fleet, work, hurry } = scene;
      const loop = createLoop({ limits: { deadlineMs: 60_000 } });
      const notBefore = new Date(Date.now() + 3_600_000);
      const late = await fleet.enqueue(loop, { n: 1 }, { notBefore });
      const past = await fleet.enqueue(loop, { n: 2 }, { notBefore: new Date(0) });
      const { stop } = work([loop]);
      expect(await fleet.result(past.id)).toBe("done");
      expect(await findRun(fleet, late.id)).toMatchObject({
        ...{ state: "waiting", attempt: 0, notBefore: notBefore.toISOString() },
        deadline: new Date(notBefore.getTime() + 60_000).toISOString(),
      });
      await hurry();
      expect(await fleet.result(late.id)).toBe("done");
      await stop();
    });

    test("unless too many runs of the loop wait, also if they are enqueued at once", async () => {
      const { fleet } = scene;
      const loop = createLoop();
      const enqueued = await Promise.allSettled(
        Array.from({ length: 25 }, (_, n) => fleet.enqueue(loop, { n }, { key: `${n}` })),
      );
      const refused = enqueued.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
      expect(refused).toHaveLength(5);
      expect(refused[0]).toBeInstanceOf(FleetFullError);
      expect(refused[0]).toMatchObject({ loop: loop.name, waiting: 20, maxWaiting: 20 });
      const known = enqueued.findIndex(({ status }) => status === "fulfilled");
      const again = await fleet.enqueue(loop, { n: known }, { key: `${known}` });
      expect(again.isNew).toBe(false); // a known key is not refused
      expect(await listRuns(fleet, { loop: loop.name })).toHaveLength(20);
    });

    test("within the caller's transaction, and only if that commits", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop();
      await fleet.register(loop);
      const failure = new Error("no");
      let lost = "";
      const failing = fleet.transact(async (sql) => {
        lost = (await fleet.enqueue(loop, { n: 1 }, { in: sql })).id;
        throw failure;
      });
      await expect(failing).rejects.toBe(failure);
      expect(await fleet.find(lost)).toBeNull();
      expect(await query("select 1 from boss.job where id = $1", [lost])).toEqual([]);
      const { stop } = work([loop]);
      const { id } = await fleet.transact((sql) => fleet.enqueue(loop, { n: 2 }, { in: sql }));
      expect(await fleet.result(id)).toBe("done");
      await stop();
    });

    test("of a new loop within a transaction, which a folder refuses without register", async () => {
      const { fleet } = scene;
      const loop = createLoop();
      const enqueue = () => fleet.transact((sql) => fleet.enqueue(loop, { n: 1 }, { in: sql }));
      if (kind === "postgres") return void expect(await enqueue()).toMatchObject({ isNew: true });
      const message = `The queue of the loop "${loop.name}" does not exist yet. Call fleet.register(loop) before the transaction.`;
      await expect(enqueue()).rejects.toThrow(new FleetError(message));
      const registering = fleet.register(loop); // not awaited: the queue is being created
      await enqueue().catch((error: unknown) => expect(error).toEqual(new FleetError(message)));
      await registering;
      expect(await enqueue()).toMatchObject({ loop: loop.name });
    });

    test("as it was given, and validates it with the loop's schema, defaults and transforms", async () => {
      const { fleet, work } = scene;
      const loop = new AgentLoop({
        name: "transforming",
        request: z.object({
          at: z.string().transform((text) => new Date(text)),
          count: z.number().default(3),
        }),
        prepare: ({ at, count }) => ({
          prompt: definePrompt({ name: "task", instructions: "Do it." }),
          input: `${at.getTime()} ${count}`,
        }),
        adapter: () => scriptedClient(({ input }) => ({ text: JSON.stringify(input) })),
      });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { at: "1970-01-01T00:00:01Z" });
      expect((await findRun(fleet, id)).request).toEqual({ at: "1970-01-01T00:00:01Z" });
      expect(await fleet.result(id)).toContain("1000 3");
      await stop();
    });

    test.each([
      [
        { n: "1" },
        /^request must match the schema of the loop "[^"]+" \(.*\), got .* Fix the request\.$/,
      ],
      [{ n: Number.NaN }, /^request must match the schema of the loop/],
      [{ n: 1, at: new Date(0) }, /^request must match the schema of the loop/],
      [undefined, /^request must match the schema of the loop/],
    ])("refuses the request %j", async (request, message) => {
      const enqueuing = scene.fleet.enqueue(createLoop(), request as never);
      await expect(enqueuing).rejects.toThrow(InvalidOptionError);
      await expect(enqueuing).rejects.toThrow(message);
    });

    test.each([
      [{ key: "" }, "Fleet.enqueue(key) must be 1-200 characters without NUL"],
      [{ key: "a\0b" }, "Fleet.enqueue(key) must be 1-200 characters without NUL"],
      [{ group: "g".repeat(201) }, "Fleet.enqueue(group) must be 1-200 characters without NUL"],
      [{ priority: 1.5 }, "Fleet.enqueue(priority) must be an integer of 32 bits, got 1.5"],
      [{ priority: 2 ** 31 }, "Fleet.enqueue(priority) must be an integer of 32 bits"],
      [{ notBefore: new Date("no") }, "Fleet.enqueue(notBefore) must be a valid Date"],
      [{ notBefore: "2026-01-01" }, "Fleet.enqueue(notBefore) must be a valid Date"],
      [{ in: {} }, "Fleet.enqueue(in) must be an object with query()"],
    ])("refuses the options %j", async (options, message) => {
      const enqueuing = scene.fleet.enqueue(createLoop(), { n: 1 }, options as never);
      await expect(enqueuing).rejects.toThrow(message);
    });
  });
});
