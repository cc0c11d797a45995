import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createLoop,
  createTool,
  findRun,
  fleetDatabases,
  Gate,
  openTestFleet,
  type TestFleet,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import { RunCancelledError } from "../errors/run-cancelled-error.ts";
import type { WorkerEvent } from "./worker-event.ts";

describe.each(fleetDatabases)(
  "a worker on %s that was declared gone",
  (_name, kind, isAvailable) => {
    describe.runIf(isAvailable)("while it runs", () => {
      let scene: TestFleet;
      beforeAll(async () => {
        scene = await openTestFleet(kind);
      });
      afterAll(async () => {
        await scene[Symbol.asyncDispose]();
      });

      /** Declares a worker gone, and makes all workers report several times at once. */
      const declareGone = async (id: number | null) => {
        const { options, query } = scene;
        await query("update wink.worker set gone_at = now() where id = $1", [id]);
        const channel = `${options.schema}_fleet`;
        const message = `'{"type":"drain","n":' || n || '}'`;
        await query(`select pg_notify($1, ${message}) from generate_series(1, 3) n`, [channel]);
      };

      test("registers again exactly once, with another number, and runs requests", async () => {
        const { fleet, work } = scene;
        const loop = createLoop();
        const started: number[] = [];
        const onEvent = ({ type, worker: number }: WorkerEvent) => {
          if (type === "WorkerStarted") started.push(number);
        };
        const { worker, stop } = work([loop], { onEvent });
        await expect.poll(() => worker.health().seenAt).not.toBeNull();
        const { id: first } = worker.health();
        await declareGone(first);
        await expect.poll(() => worker.health().id).not.toBe(first);
        await expect.poll(() => started).toEqual([first, worker.health().id]);
        const run = await fleet.enqueue(loop, { n: 1 });
        expect(await fleet.result(run.id)).toBe("done");
        expect(await fleet.workers()).toMatchObject([{ id: worker.health().id }]);
        await stop();
        expect(await fleet.workers()).toEqual([]);
      });

      test("still cancels the runs that it had before", async () => {
        const { fleet, work } = scene;
        const gate = new Gate();
        const loop = createLoop({
          tools: [createTool("wait", ({ signal }) => gate.pass(signal))],
          model: { toolCalls: [{ name: "wait" }] },
        });
        const { id } = await fleet.enqueue(loop, { n: 1 });
        const { worker, stop } = work([loop]);
        await gate.waitFor();
        const { id: first } = worker.health();
        await declareGone(first);
        await expect.poll(() => worker.health().id).not.toBe(first);
        await fleet.cancel(id, "superseded");
        await expect(fleet.result(id)).rejects.toThrow(RunCancelledError);
        expect(await findRun(fleet, id)).toMatchObject({ attempt: 1, cancelReason: "superseded" });
        await stop();
      });
    });
  },
);
